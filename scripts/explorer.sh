#!/bin/sh
# Build the engine for WebAssembly: python/cellyard/explorer/engine.wasm, which the explorer loads.
# With the compiler of this project where its target is installed, else with that of Debian, which has one of its own name.
# Usage: explorer.sh [--optional]; with it a missing compiler is a note and no error.
set -eu
cd "$(dirname "$0")/.."
target=wasm32-unknown-unknown
out=python/cellyard/explorer/engine.wasm
build() {
	"$@" build --quiet --locked --profile explorer --package cellyard-wasm --target "$target"
}
libdir=$(rustc --print target-libdir --target "$target" 2>/dev/null || true)
if test -d "${libdir:-/nowhere}"; then
	build cargo
	built=target/$target/explorer/cellyard_wasm.wasm
elif test -x /usr/bin/cargo -a -x /usr/bin/wasm-ld-19 -a -e /usr/lib/rustlib/src/rust/library/std/Cargo.toml; then
	# Its standard library is compiled with the rest: a compiler's own flag, which RUSTC_BOOTSTRAP opens.
	export PATH=/usr/bin:/bin RUSTC=/usr/bin/rustc RUSTC_BOOTSTRAP=1 CARGO_TARGET_DIR=target/explorer
	build /usr/bin/cargo -Z build-std=std,panic_abort --config "target.$target.linker='wasm-ld-19'"
	built=target/explorer/$target/explorer/cellyard_wasm.wasm
else
	echo "the explorer is not built: no compiler for $target; run 'rustup target add $target', or on Debian" >&2
	echo "'apt install rustc-web cargo-web rust-web-src lld-19', then 'make explorer'" >&2
	test "${1-}" = --optional
	exit
fi
cp "$built" "$out"
