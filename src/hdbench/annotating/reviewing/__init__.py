"""Second looks: values of a ground truth that are read again, before what it says is shown."""
