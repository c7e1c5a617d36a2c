"""Whole networks: classifiers of images, a detector with its post-processing, a diffusion sampler."""

# TorchScript reads the annotations of buffers, and does not know them as strings: no
# `from __future__ import annotations`.
import torch
import torch.nn.functional as F
from torch import nn

from ..workload import Built, Workload

__all__ = ["WORKLOADS", "Detector", "DiffusionSampler", "ResNet", "VisionTransformer"]


class ResidualBlock(nn.Module):
    """Two convolutions of 3 x 3 with batch normalisation, added to what they are given.

    Args:
        inputs: channels of the argument.
        outputs: channels of the result.
        stride: by which the result is smaller.
    """

    def __init__(self, inputs: int, outputs: int, stride: int) -> None:
        super().__init__()
        self.first = nn.Conv2d(inputs, outputs, 3, stride, 1, bias=False)
        self.first_norm = nn.BatchNorm2d(outputs)
        self.second = nn.Conv2d(outputs, outputs, 3, 1, 1, bias=False)
        self.second_norm = nn.BatchNorm2d(outputs)
        self.relu = nn.ReLU(inplace=True)
        self.shortcut: nn.Module = nn.Identity()
        if stride != 1 or inputs != outputs:
            self.shortcut = nn.Sequential(nn.Conv2d(inputs, outputs, 1, stride, bias=False), nn.BatchNorm2d(outputs))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Return float32 [batch, outputs, height / stride, width / stride] of x [batch, inputs, height, width]."""
        y = self.relu(self.first_norm(self.first(x)))
        y = self.second_norm(self.second(y))
        y += self.shortcut(x)
        return self.relu(y)


class ResNet(nn.Module):
    """ResNet-18.

    Args:
        width: channels of the first stage.
        classes: how many.
    """

    def __init__(self, width: int = 64, classes: int = 1000) -> None:
        super().__init__()
        self.stem = nn.Conv2d(3, width, 7, 2, 3, bias=False)
        self.norm = nn.BatchNorm2d(width)
        self.pool = nn.MaxPool2d(3, 2, 1)
        blocks = []
        inputs = width
        for outputs, stride in ((width, 1), (2 * width, 2), (4 * width, 2), (8 * width, 2)):
            blocks += [ResidualBlock(inputs, outputs, stride), ResidualBlock(outputs, outputs, 1)]
            inputs = outputs
        self.blocks = nn.Sequential(*blocks)
        self.head = nn.Linear(inputs, classes)

    def features(self, image: torch.Tensor) -> torch.Tensor:
        """Return float32 [batch, 8 * width, height / 32, width / 32] of an image [batch, 3, height, width]."""
        return self.blocks(self.pool(torch.relu(self.norm(self.stem(image)))))

    def forward(self, image: torch.Tensor) -> torch.Tensor:
        """Return float32 [batch, classes] of an image, float32 [batch, 3, height, width]."""
        return self.head(self.features(image).mean((2, 3)))


class TransformerBlock(nn.Module):
    """Attention and a feed-forward network, each behind a normalisation and added to what it is given.

    Args:
        width: size of a token.
        heads: of the attention.
    """

    def __init__(self, width: int, heads: int) -> None:
        super().__init__()
        self.heads = heads
        self.attention_norm, self.norm = nn.LayerNorm(width), nn.LayerNorm(width)
        self.projections, self.output = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.first, self.second = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Return float32 [batch, tokens, width] of x of that shape."""
        batch, tokens, width = x.shape
        heads = self.projections(self.attention_norm(x)).view(batch, tokens, 3, self.heads, width // self.heads)
        query, key, value = heads.permute(2, 0, 3, 1, 4).unbind(0)
        attended = F.scaled_dot_product_attention(query, key, value)
        x = x + self.output(attended.transpose(1, 2).reshape(batch, tokens, width))
        return x + self.second(F.gelu(self.first(self.norm(x))))


class VisionTransformer(nn.Module):
    """A classifier of images in patches of 16 x 16.

    Args:
        width: size of a token.
        layers: how many.
        size: height and width of an image.
    """

    def __init__(self, width: int = 384, layers: int = 6, size: int = 224) -> None:
        super().__init__()
        self.patches = nn.Conv2d(3, width, 16, 16)
        self.token = nn.Parameter(torch.randn(1, 1, width))
        self.positions = nn.Parameter(torch.randn(1, 1 + (size // 16) ** 2, width))
        self.blocks = nn.ModuleList([TransformerBlock(width, width // 64) for _ in range(layers)])
        self.norm = nn.LayerNorm(width)
        self.head = nn.Linear(width, 1000)

    def forward(self, image: torch.Tensor) -> torch.Tensor:
        """Return float32 [batch, 1000] of an image, float32 [batch, 3, size, size]."""
        x = self.patches(image).flatten(2).transpose(1, 2)
        x = torch.cat([self.token.expand(x.size(0), -1, -1), x], 1) + self.positions
        for block in self.blocks:
            x = block(x)
        return self.head(self.norm(x)[:, 0])


class Detector(nn.Module):
    """An anchor-free detector: backbone, a head of two convolutions, and greedy suppression of boxes.

    Args:
        width: channels of the backbone's first stage.
        kept: the most candidates.
    """

    def __init__(self, width: int, kept: int) -> None:
        super().__init__()
        self.kept = kept
        self.backbone = ResNet(width, 1)
        self.tower = nn.Conv2d(8 * width, 2 * width, 3, padding=1)
        self.scores = nn.Conv2d(2 * width, 20, 3, padding=1)
        self.distances = nn.Conv2d(2 * width, 4, 3, padding=1)

    def forward(self, image: torch.Tensor, threshold: float) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        """Return the boxes float32 [n, 4], their scores [n] and classes int64 [n] in an image [1, 3, height, width]."""
        y = torch.relu(self.tower(self.backbone.features(image)))
        height, width = y.size(2), y.size(3)
        rows = torch.arange(height).view(-1, 1).expand(height, width).reshape(-1) * 32.0 + 16.0
        columns = torch.arange(width).expand(height, width).reshape(-1) * 32.0 + 16.0
        scores, classes = torch.sigmoid(self.scores(y)).flatten(2)[0].max(0)
        distances = torch.exp(self.distances(y)).flatten(2)[0] * 16.0
        boxes = torch.zeros(height * width, 4)
        boxes[:, 0] = columns - distances[0]
        boxes[:, 1] = rows - distances[1]
        boxes[:, 2] = columns + distances[2]
        boxes[:, 3] = rows + distances[3]
        found = scores > threshold
        boxes, scores, classes = boxes[found], scores[found], classes[found]
        scores, order = scores.sort(descending=True)
        boxes, classes = boxes[order[: self.kept]], classes[order[: self.kept]]
        scores = scores[: self.kept]
        areas = (boxes[:, 2] - boxes[:, 0]) * (boxes[:, 3] - boxes[:, 1])
        keep = torch.ones(boxes.size(0), dtype=torch.bool)
        for i in range(boxes.size(0)):
            if keep[i]:
                low = torch.maximum(boxes[i, :2], boxes[i + 1 :, :2])
                high = torch.minimum(boxes[i, 2:], boxes[i + 1 :, 2:])
                sides = (high - low).clamp(min=0)
                shared = sides[:, 0] * sides[:, 1]
                overlap = shared / (areas[i] + areas[i + 1 :] - shared)
                keep[i + 1 :] &= overlap <= 0.5
        return boxes[keep], scores[keep], classes[keep]


class DenoisingBlock(nn.Module):
    """Two convolutions with group normalisation, which are told the time.

    Args:
        inputs: channels of the argument.
        outputs: channels of the result.
    """

    def __init__(self, inputs: int, outputs: int) -> None:
        super().__init__()
        self.first_norm, self.second_norm = nn.GroupNorm(8, inputs), nn.GroupNorm(8, outputs)
        self.first, self.second = nn.Conv2d(inputs, outputs, 3, padding=1), nn.Conv2d(outputs, outputs, 3, padding=1)
        self.time = nn.Linear(64, outputs)
        self.shortcut = nn.Conv2d(inputs, outputs, 1)

    def forward(self, x: torch.Tensor, time: torch.Tensor) -> torch.Tensor:
        """Return float32 [batch, outputs, height, width] of x [batch, inputs, height, width] and time [batch, 64]."""
        y = self.first(F.silu(self.first_norm(x))) + self.time(time)[:, :, None, None]
        return self.second(F.silu(self.second_norm(y))) + self.shortcut(x)


class DiffusionSampler(nn.Module):
    """A U-Net and the loop that samples with it, without noise.

    Args:
        width: channels of the first stage.
    """

    signal: torch.Tensor

    def __init__(self, width: int = 32) -> None:
        super().__init__()
        self.start = nn.Conv2d(3, width, 3, padding=1)
        self.down = nn.ModuleList([DenoisingBlock(width, 2 * width), DenoisingBlock(2 * width, 4 * width)])
        self.middle = DenoisingBlock(4 * width, 4 * width)
        self.up = nn.ModuleList([DenoisingBlock(8 * width, 2 * width), DenoisingBlock(4 * width, width)])
        self.end = nn.Conv2d(width, 3, 3, padding=1)
        self.time = nn.Linear(64, 64)
        self.register_buffer("signal", torch.linspace(0.01, 0.999, 100))

    def predict(self, x: torch.Tensor, step: int) -> torch.Tensor:
        """Return the noise in x, float32 [batch, 3, height, width], at a step."""
        angles = step * torch.exp(torch.arange(32) * -0.3)
        time = F.silu(self.time(torch.cat([angles.sin(), angles.cos()]).expand(x.size(0), -1)))
        first = self.down[0](self.start(x), time)
        second = self.down[1](F.avg_pool2d(first, 2), time)
        y = self.middle(F.avg_pool2d(second, 2), time)
        y = self.up[0](torch.cat([F.interpolate(y, scale_factor=2.0), second], 1), time)
        y = self.up[1](torch.cat([F.interpolate(y, scale_factor=2.0), first], 1), time)
        return self.end(y)

    def forward(self, x: torch.Tensor, steps: int) -> torch.Tensor:
        """Return an image, float32 [batch, 3, height, width], of noise of that shape in some steps."""
        for i in range(steps):
            step = i * 100 // steps
            signal, after = self.signal[step], self.signal[min(step + 100 // steps, 99)]
            noise = self.predict(x, step)
            image = (x - (1 - signal).sqrt() * noise) / signal.sqrt()
            x = after.sqrt() * image.clamp(-1, 1) + (1 - after).sqrt() * noise
        return x


def build_resnet(*, size: int, width: int) -> Built:
    """Make the classifier."""
    image = torch.randn(1, 3, size, size)
    return Built(ResNet(width).eval(), {"image": (image,), "dark": (image / 8,)})


def build_transformer(*, size: int, width: int, layers: int) -> Built:
    """Make the transformer."""
    image = torch.randn(1, 3, size, size)
    return Built(VisionTransformer(width, layers, size).eval(), {"image": (image,), "dark": (image / 8,)})


def build_detector(*, size: int, width: int, kept: int) -> Built:
    """Make the detector; the threshold decides how many boxes there are."""
    image = torch.randn(1, 3, size, size)
    model = Detector(width, kept).eval()
    return Built(
        model,
        {"some boxes": (image, 0.512), "all boxes": (image, 0.0), "no boxes": (image, 1.0)},
        facts=lambda result: {"boxes": len(result[0])},
    )


def build_sampler(*, size: int, width: int, steps: int) -> Built:
    """Make the sampler."""
    noise = torch.randn(1, 3, size, size)
    return Built(DiffusionSampler(width).eval(), {"steps": (noise, steps), "fewer steps": (noise, steps // 2)})


WORKLOADS = (
    Workload(
        "resnet18",
        "networks",
        "image classifier",
        "He et al., Deep Residual Learning for Image Recognition, 2015",
        build_resnet,
        {"size": 224, "width": 64},
        {"size": 32, "width": 4},
    ),
    Workload(
        "transformer",
        "networks",
        "vision transformer, 6 layers",
        "Dosovitskiy et al., An Image is Worth 16x16 Words, 2020",
        build_transformer,
        {"size": 224, "width": 384, "layers": 6},
        {"size": 32, "width": 64, "layers": 1},
    ),
    Workload(
        "detector",
        "networks",
        "anchor-free detector from the image to boxes, with a loop that suppresses them",
        "Tian et al., FCOS, 2019, with one level; ResNet-18",
        build_detector,
        {"size": 320, "width": 64, "kept": 100},
        {"size": 64, "width": 4, "kept": 4},
    ),
    Workload(
        "diffusion",
        "networks",
        "U-Net and the loop that samples with it",
        "Song et al., Denoising Diffusion Implicit Models, 2020",
        build_sampler,
        {"size": 32, "width": 32, "steps": 10},
        {"size": 8, "width": 8, "steps": 3},
    ),
)
