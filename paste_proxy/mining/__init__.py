"""The Pattern Analyzer (PASTE 4.1): mine contexts, infer argument mappers, validate, predict.

Pure: sessions in, a pool out; events in, candidates out.
"""
