"""Images packed in shards: tar files as WebDataset has them, and Parquet files."""
