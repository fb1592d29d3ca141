from .by_hand import multi_head_attention as multi_head_attention
from .by_hand import self_attention as self_attention
from .by_hand import softmax as softmax
from .devices import best_device as best_device
from .devices import seed_everything as seed_everything
from .layers.blockwise import blockwise_attention as blockwise_attention
from .layers.core import masked_softmax as masked_softmax
from .layers.core import scaled_dot_product_attention as scaled_dot_product_attention
from .layers.latent import LatentAttention as LatentAttention
from .layers.linear import linear_attention as linear_attention
from .layers.local import local_attention as local_attention
from .layers.masks import create_causal_mask as create_causal_mask
from .layers.masks import create_padding_mask as create_padding_mask
from .layers.multihead import CausalSelfAttention as CausalSelfAttention
from .layers.multihead import MultiHeadAttention as MultiHeadAttention
from .layers.multihead import SelfAttention as SelfAttention
from .layers.positions import LearnedPositionalEncoding as LearnedPositionalEncoding
from .layers.positions import (
    SinusoidalPositionalEncoding as SinusoidalPositionalEncoding,
)
from .layers.positions import sinusoidal_encoding as sinusoidal_encoding
from .layers.relative import T5RelativeBias as T5RelativeBias
from .layers.relative import alibi_bias as alibi_bias
from .layers.relative import alibi_slopes as alibi_slopes
from .layers.rotary import apply_rotary as apply_rotary
from .layers.scores import AdditiveAttention as AdditiveAttention
from .layers.scores import MultiplicativeAttention as MultiplicativeAttention
from .layers.shaw import ShawAttention as ShawAttention
from .layers.sparse import block_sparse_attention as block_sparse_attention
from .models.decoding import beam_search as beam_search
from .models.decoding import greedy_search as greedy_search
from .models.gpt import GPT as GPT
from .models.qa import QATransformer as QATransformer
from .models.recurrent import RecurrentSeq2Seq as RecurrentSeq2Seq
from .models.seq2seq import AttentionSeq2Seq as AttentionSeq2Seq
from .models.summary import SelfAttentionSummarizer as SelfAttentionSummarizer
from .models.transformer import Transformer as Transformer
from .models.transformer import TransformerLayer as TransformerLayer
from .models.translation import TranslationTransformer as TranslationTransformer
from .training.loop import train as train
from .training.side_by_side import train_side_by_side as train_side_by_side

__version__: str
