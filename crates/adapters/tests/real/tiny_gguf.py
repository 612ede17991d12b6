"""Writes a llama model so small that its words mean nothing, for tests against a real server.

Usage: tiny_gguf.py VOICE FILE

The model has two layers of random weights and knows bytes, and a few longer characters. What it is likely to say is
steered by one number for each token, so that a test can rely on how it behaves:

  caller   prefers to call a tool, and closes what it opened soon
  endless  prefers to call a tool, and never closes a string: its arguments end where the tokens do
  talker   prefers to talk, and comes to an end after some dozens of characters
"""

import sys

import gguf
import numpy

WIDTH = 64
HEADS = 4
LAYERS = 2
FEED_FORWARD = 128
WINDOW = 65536
EPSILON = 1e-5
# The first place of every hidden state holds this constant. The output layer multiplies it with a token's bias.
CONSTANT = 8.0
NOISE = 0.3

SPECIAL = ["<unk>", "<s>", "</s>"]
END = 2
BYTES = [f"<0x{byte:02X}>" for byte in range(256)]
# Characters of two, three and four bytes, so that real UTF-8 and surrogate pairs travel.
LONGER = ["\u2581", "é", "世", "🙂"]
TOKENS = SPECIAL + BYTES + LONGER

NEVER = -30.0


def likings(voice: str) -> numpy.ndarray:
    """How much each token is liked: what is added to its logit."""
    liked = numpy.full(len(TOKENS), NEVER, dtype=numpy.float32)

    def like(characters: str, how_much: float) -> None:
        for character in characters:
            liked[len(SPECIAL) + ord(character)] = how_much

    like("".join(map(chr, range(0x20, 0x7F))), -4.0)
    like("abcdefghijklmnopqrstuvwxyz", 0.0)
    like("0123456789", 0.0)
    like("\\", NEVER)
    like("\n\t", -6.0)
    for token in LONGER:
        liked[TOKENS.index(token)] = -0.5
    # Between "functions." and "message:", and later between another call and the end of the turn.
    like("f", 1.0)
    like("m", -1.0)
    like("<", 2.0 if voice != "endless" else -4.0)
    if voice == "caller":
        like('"', 2.5)
        like("}]", 0.5)
        like(",", -6.0)
        liked[END] = 3.0
    elif voice == "endless":
        like('"', -12.0)
        liked[END] = NEVER
    elif voice == "talker":
        like("m", 2.0)
        like("<", -4.0)
        liked[END] = 1.5
    else:
        raise SystemExit(f"there is no voice `{voice}`")
    return liked


def main() -> None:
    if len(sys.argv) != 3:
        raise SystemExit("usage: tiny_gguf.py VOICE FILE")
    voice, file = sys.argv[1:]
    liked = likings(voice)
    chance = numpy.random.default_rng(4)

    def noise(rows: int, columns: int) -> numpy.ndarray:
        return chance.normal(0.0, NOISE / numpy.sqrt(columns / WIDTH), (rows, columns)).astype(numpy.float32)

    def silent_first(matrix: numpy.ndarray) -> numpy.ndarray:
        """What a layer adds leaves the constant alone."""
        matrix[0, :] = 0.0
        return matrix

    writer = gguf.GGUFWriter(file, "llama")
    writer.add_name(f"tiny {voice}")
    writer.add_context_length(WINDOW)
    writer.add_embedding_length(WIDTH)
    writer.add_block_count(LAYERS)
    writer.add_feed_forward_length(FEED_FORWARD)
    writer.add_head_count(HEADS)
    writer.add_head_count_kv(HEADS)
    writer.add_rope_dimension_count(WIDTH // HEADS)
    writer.add_layer_norm_rms_eps(EPSILON)
    writer.add_vocab_size(len(TOKENS))
    writer.add_file_type(gguf.LlamaFileType.ALL_F32)

    kinds = [gguf.TokenType.UNKNOWN, gguf.TokenType.CONTROL, gguf.TokenType.CONTROL]
    kinds += [gguf.TokenType.BYTE] * len(BYTES) + [gguf.TokenType.NORMAL] * len(LONGER)
    writer.add_tokenizer_model("llama")
    writer.add_token_list(TOKENS)
    writer.add_token_scores([0.0] * len(TOKENS))
    writer.add_token_types(kinds)
    writer.add_unk_token_id(0)
    writer.add_bos_token_id(1)
    writer.add_eos_token_id(END)
    writer.add_add_space_prefix(False)

    embedding = noise(len(TOKENS), WIDTH)
    embedding[:, 0] = CONSTANT
    output = noise(len(TOKENS), WIDTH) * 0.2
    # After the last normalisation the constant is about this much.
    output[:, 0] = liked / numpy.sqrt(WIDTH)
    ones = numpy.ones(WIDTH, dtype=numpy.float32)
    writer.add_tensor("token_embd.weight", embedding)
    writer.add_tensor("output_norm.weight", ones)
    writer.add_tensor("output.weight", output)
    for layer in range(LAYERS):
        block = f"blk.{layer}"
        writer.add_tensor(f"{block}.attn_norm.weight", ones)
        for part in ("attn_q", "attn_k", "attn_v"):
            writer.add_tensor(f"{block}.{part}.weight", noise(WIDTH, WIDTH))
        writer.add_tensor(f"{block}.attn_output.weight", silent_first(noise(WIDTH, WIDTH)) * 0.3)
        writer.add_tensor(f"{block}.ffn_norm.weight", ones)
        writer.add_tensor(f"{block}.ffn_gate.weight", noise(FEED_FORWARD, WIDTH))
        writer.add_tensor(f"{block}.ffn_up.weight", noise(FEED_FORWARD, WIDTH))
        writer.add_tensor(f"{block}.ffn_down.weight", silent_first(noise(WIDTH, FEED_FORWARD)) * 0.1)

    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


if __name__ == "__main__":
    main()
