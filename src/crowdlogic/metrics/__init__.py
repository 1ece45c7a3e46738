"""How good are answers, and how far do annotators agree?"""
