#!/bin/sh
# A program in, its bitstream and a signed certificate out: sh sign.sh [PROGRAM], in a folder that gets `built`, `key`,
# `signers` and `signed`. DAIS_VERIF names another dais-verif than that of PATH.
set -eu

here=$(cd "$(dirname "$0")" && pwd)
program=${1:-$here/../quantised_mac.bin}
dais_verif=${DAIS_VERIF:-dais-verif}

# From the program to the file that is loaded. The ports are those of the RTL that the policy asks for.
$dais_verif build "$program" --device ice40-hx1k-tq144 --stages 2 --reset --enable --valid --clock 50 -o built
cp "$here/policy.toml" policy.toml

# Who signs: a key of ssh, and the list of those who may.
[ -f key ] || ssh-keygen -q -t ed25519 -N "" -C builder -f key
echo "builder $(cut -d ' ' -f 1-2 key.pub)" >signers

# All that the policy asks for, of the RTL and of the bitstream.
$dais_verif signoff "$program" --policy policy.toml --sign key -o signed

# Before it is loaded it is asked again, with the file that is on its way to the device.
$dais_verif signoff --verify signed --allowed-signers signers --bitstream built/model.bin
