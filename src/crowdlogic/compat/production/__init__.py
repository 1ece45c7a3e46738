"""A trained run for use elsewhere: a folder with an ONNX model, or one that Hugging Face's transformers load."""
