"""A small grammar of English with translations into French, German and Japanese.

`lexicon` holds the words, `tree` the abstract sentences, `grammar` draws them, and one
module for each language puts them into words.
"""
