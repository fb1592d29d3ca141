"""A Transformer over the patches of an image."""

from torch import Tensor, nn

from attncourse import _checks
from attncourse.layers.positions import LearnedPositionalEncoding
from attncourse.models.transformer import TransformerLayer, run_layers


def to_patches(pixels: Tensor, size: int) -> Tensor:
    """Cut images into square patches, row by row.

    Parameters
    ----------
    pixels : torch.Tensor
        ``(batch, height, width)``; both divisible by `size`.
    size : int
        Pixels along the side of a patch.

    Returns
    -------
    torch.Tensor
        ``(batch, patches, size * size)``. A size that does not divide the image raises
        a ValueError.
    """
    _checks.exact_rank("pixels", pixels, 3, layout="(batch, height, width)")
    if pixels.shape[1] % size or pixels.shape[2] % size:
        raise ValueError(
            f"pixels must be divisible into patches of {size} × {size}, but the shape "
            f"is {_checks.shape_text(pixels)}. Choose another size, or pad the images."
        )
    return pixels.unfold(1, size, size).unfold(2, size, size).flatten(3).flatten(1, 2)


class VisionTransformer(nn.Module):
    """Patches, a linear map, learned positions, and a Transformer encoder.

    Parameters
    ----------
    num_patches, patch_size : int
        Patches of an image, and pixels along the side of each.
    classes : int
        Number of logits.
    d_model, num_heads, num_layers : int
        Sizes of the encoder.
    pooled : bool, default True
        Whether the vectors of all patches are averaged before the output layer: one
        answer for an image. If False, there is one for each patch.
    positions : bool, default True
        Whether learned positions are added.

    References
    ----------
    Dosovitskiy et al. (2021), "An image is worth 16x16 words". There a class token
    stands where here the mean does.
    """

    def __init__(
        self,
        num_patches: int,
        patch_size: int,
        classes: int,
        d_model: int = 64,
        num_heads: int = 4,
        num_layers: int = 2,
        *,
        pooled: bool = True,
        positions: bool = True,
    ) -> None:
        super().__init__()
        self.patch_size, self.pooled = patch_size, pooled
        self.embedding = nn.Linear(patch_size**2, d_model)
        self.positions = nn.Identity()
        if positions:
            self.positions = LearnedPositionalEncoding(d_model, num_patches)
            nn.init.normal_(self.positions.encoding, std=0.3)
        self.layers = nn.ModuleList(
            TransformerLayer(d_model, num_heads, feedforward_dim=2 * d_model)
            for _ in range(num_layers)
        )
        self.norm, self.output = nn.LayerNorm(d_model), nn.Linear(d_model, classes)

    def forward(
        self, pixels: Tensor, mask: Tensor | None = None, *, need_weights: bool = False
    ) -> Tensor | tuple[Tensor, list[Tensor]]:
        """Return logits, and on request where each patch attends.

        Parameters
        ----------
        pixels : torch.Tensor
            Floating point, ``(batch, height, width)``.
        mask, need_weights
            As for `TransformerLayer`.

        Returns
        -------
        logits : torch.Tensor
            ``(batch, classes)``, or ``(batch, patches, classes)`` if not pooled.
        weights : list of torch.Tensor
            Only on request; ``(batch, heads, patches, patches)`` for each layer.
        """
        x = self.positions(self.embedding(to_patches(pixels, self.patch_size)))
        x, all_weights = run_layers(self.layers, x, mask, need_weights=need_weights)
        x = self.norm(x)
        logits = self.output(x.mean(dim=1) if self.pooled else x)
        return (logits, all_weights) if need_weights else logits
