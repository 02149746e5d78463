"""Networks of the shapes behind HPVM's files of configurations, with random weights of 8 bits."""

from __future__ import annotations

import numpy as np

from support.onnx_networks import Build

__all__ = ["alexnet2", "lenet", "vgg16"]


class _Layers:
    """A network under construction. Every activation is quantised to 8 bits, so that sums stay exact."""

    def __init__(self, shape: tuple[int, int, int], activation: str) -> None:
        self.build, self.activation = Build(), activation
        self._rng = np.random.default_rng(1)
        self._channels, self._size = shape[0], shape[1]
        self._name = self.build.quantise(self.build.input("image", ["N", *shape]), -7)

    def _weights(self, *shape: int) -> str:
        """Return weights whose sums have about the same magnitude as what they read."""
        inputs = int(np.prod(shape[1:]))
        raw = self._rng.integers(-127, 128, size=shape)
        return self.build.constant(raw * 2.0 ** -(6 + inputs.bit_length() // 2))

    def _active(self, name: str) -> str:
        exponent = -7 if self.activation == "Tanh" else -5
        mapped = self.build.quant(name, -8, 14) if self.activation == "Tanh" else name
        return self.build.quantise(self.build.node(self.activation, mapped), exponent)

    def conv(self, filters: int, size: int, pool: bool = False) -> None:
        """Add a convolution of the same size with bias and activation, and a pool."""
        weights, bias = self._weights(filters, self._channels, size, size), self._weights(filters)
        self._name = self.build.node("Conv", self._name, weights, bias, pads=[size // 2] * 4)
        self._name = self._active(self._name)
        if pool:
            self._name = self.build.node("MaxPool", self._name, kernel_shape=[2, 2], strides=[2, 2])
            self._size //= 2
        self._channels = filters

    def dense(self, outputs: int, last: bool = False) -> None:
        """Add a dense layer with bias, and an activation unless it is the last."""
        if self._size:
            self._channels, self._size = self._channels * self._size**2, 0
            self._name = self.build.node("Flatten", self._name)
        weights = self.build.node("Transpose", self._weights(outputs, self._channels), perm=[1, 0])
        self._name = self.build.node("Gemm", self._name, weights, self._weights(outputs))
        self._channels = outputs
        if not last:
            self._name = self._active(self._name)

    def bytes(self, softmax: bool = False) -> bytes:
        """Return the file."""
        if not softmax:
            return self.build.bytes(self.build.quantise(self._name, -3))
        scores = self.build.node("Softmax", self.build.quant(self._name, -4, 10), axis=-1)
        return self.build.bytes(self.build.quantise(scores, -8, np.uint8))


def lenet(activation: str = "Tanh") -> bytes:
    """Return LeNet for images of 28 x 28: 13.9 million multiply-adds."""
    layers = _Layers((1, 28, 28), activation)
    layers.conv(32, 5, pool=True)
    layers.conv(64, 5, pool=True)
    layers.dense(1024)
    layers.dense(10, last=activation != "Tanh")
    return layers.bytes(softmax=True)


def alexnet2() -> bytes:
    """Return AlexNet2 for images of 32 x 32."""
    layers = _Layers((3, 32, 32), "Tanh")
    for filters, pool in ((32, False), (32, True), (64, False), (64, True), (128, False), (128, True)):
        layers.conv(filters, 3, pool)
    layers.dense(10, last=True)
    return layers.bytes(softmax=True)


def vgg16() -> bytes:
    """Return VGG16 for images of 32 x 32: 313 million multiply-adds."""
    layers = _Layers((3, 32, 32), "Relu")
    for filters, count in ((64, 2), (128, 2), (256, 3), (512, 3), (512, 3)):
        for number in range(count):
            layers.conv(filters, 3, number == count - 1)
    layers.dense(512)
    layers.dense(10, last=True)
    return layers.bytes(softmax=True)
