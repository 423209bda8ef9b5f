"""What `text_cer` is made of."""
