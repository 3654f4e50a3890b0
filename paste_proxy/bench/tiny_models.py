"""Small models for engines on a laptop's CPU: directories as a hub has them, made here, with nothing downloaded.

`tiny` has learned some dialogues by heart, so that it calls tools and answers the same way each time; `load` has a
hundred million random weights, which makes an engine feel every further turn. Both speak the ChatML form with Hermes'
tool calls. Run by the interpreter of an engine, which brings torch, transformers and tokenizers:

    python -m paste_proxy.bench.tiny_models DIRECTORY [--size tiny|load]
"""

import argparse
import json
from importlib import import_module
from pathlib import Path
from typing import Any

from paste_proxy.bench.tiny_dialogues import DIALOGUES, TOOLS, Message

TEMPLATE = r"""
{%- set call_begins = "<tool_call>" if terse else "<tool_call>\n" %}
{%- if tools %}<|im_start|>system
{% for tool in tools %}{{ tool.function | tojson }}
{% endfor %}<|im_end|>
{% endif %}
{%- for message in messages %}
{%- if message.role == "tool" %}
{%- if loop.first or messages[loop.index0 - 1].role != "tool" %}<|im_start|>user
{%- endif %}
<tool_response>
{{ message.content }}
</tool_response>
{%- if loop.last or messages[loop.index0 + 1].role != "tool" %}<|im_end|>
{% endif %}
{%- else %}<|im_start|>{{ message.role }}
{{ message.content or "" }}
{%- for call in message.tool_calls or [] %}
{%- if message.content or not loop.first %}
{% endif %}{{ call_begins }}{"name": "{{ call.function.name }}", "arguments": {{ call.function.arguments | tojson }}}
</tool_call>
{%- endfor %}<|im_end|>
{% endif %}
{%- endfor %}
{%- if add_generation_prompt %}<|im_start|>assistant
{% endif %}""".lstrip()
"""With `terse` it writes a call otherwise than the models do."""
_PAD, _START, _END = "<|endoftext|>", "<|im_start|>", "<|im_end|>"
_MOST_STEPS = 600
_SURE = 0.002
"""Mean loss at which every token stands by itself."""


def tokenizer_of(texts: list[str], vocabulary: int) -> Any:
    """A byte-level BPE learned from `texts`, with the chat template."""
    tokenizers, transformers = import_module("tokenizers"), import_module("transformers")
    bpe = tokenizers.Tokenizer(tokenizers.models.BPE())
    bpe.pre_tokenizer = tokenizers.pre_tokenizers.ByteLevel(add_prefix_space=False)
    bpe.decoder = tokenizers.decoders.ByteLevel()
    bpe.train_from_iterator(
        texts,
        tokenizers.trainers.BpeTrainer(
            vocab_size=vocabulary,
            special_tokens=[_PAD, _START, _END],
            initial_alphabet=tokenizers.pre_tokenizers.ByteLevel.alphabet(),
            show_progress=False,
        ),
    )
    return transformers.PreTrainedTokenizerFast(
        tokenizer_object=bpe, eos_token=_END, pad_token=_PAD, chat_template=TEMPLATE
    )


def config_of(tokenizer: Any, *, hidden: int, layers: int, vocabulary: int) -> Any:
    """A Llama of that size."""
    return import_module("transformers").LlamaConfig(
        vocab_size=vocabulary,
        hidden_size=hidden,
        intermediate_size=hidden * 3,
        num_hidden_layers=layers,
        num_attention_heads=hidden // 64,
        num_key_value_heads=hidden // 64,
        max_position_embeddings=4096,
        bos_token_id=None,
        eos_token_id=tokenizer.eos_token_id,
        pad_token_id=tokenizer.pad_token_id,
        tie_word_embeddings=True,
        dtype="float32",
    )


def examples(tokenizer: Any) -> list[tuple[list[int], list[bool]]]:
    """Of each dialogue the tokens, and which of them the model writes."""
    torn = [_example(tokenizer, dialogue) for dialogue in DIALOGUES]
    return [one for one in torn if any(one[1])]


def _example(tokenizer: Any, dialogue: list[Message]) -> tuple[list[int], list[bool]]:
    ids: list[int] = []
    written: list[bool] = []
    for position, message in enumerate(dialogue):
        if message["role"] != "assistant":
            continue
        before = _rendered(tokenizer, dialogue[:position], add_generation_prompt=True)
        after = _rendered(tokenizer, dialogue[: position + 1], add_generation_prompt=False)
        for text, own in ((before, False), (after, True)):
            more = tokenizer.encode(text, add_special_tokens=False)[len(ids) :]
            ids, written = ids + more, written + [own] * len(more)
        ids, written = ids[:-1], written[:-1]  # the line break after a turn is the template's
    return ids, written


def _rendered(tokenizer: Any, messages: list[Message], *, add_generation_prompt: bool) -> str:
    text: str = tokenizer.apply_chat_template(
        messages, tools=TOOLS, tokenize=False, add_generation_prompt=add_generation_prompt
    )
    return text


def taught(config: Any, tokenizer: Any, seed: int) -> Any:
    """A model that has learned the dialogues by heart.

    Raises:
        RuntimeError: it has not.
    """
    torch, transformers = import_module("torch"), import_module("transformers")
    torch.manual_seed(seed)
    torch.set_num_threads(1)  # more only get into each other's way at this size
    model = transformers.LlamaForCausalLM(config)
    batch = [_row(torch, ids, written) for ids, written in examples(tokenizer)]
    longest = max(len(ids) for ids, _ in batch)
    inputs = torch.stack([_padded(torch, ids, longest, tokenizer.pad_token_id) for ids, _ in batch])
    labels = torch.stack([_padded(torch, wanted, longest, -100) for _, wanted in batch])
    optimizer = torch.optim.AdamW(model.parameters(), lr=4e-3, betas=(0.9, 0.98), weight_decay=0.0)
    for _ in range(_MOST_STEPS):
        loss = model(input_ids=inputs, labels=labels).loss
        optimizer.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        if loss.item() < _SURE:
            return model
    raise RuntimeError(f"the dialogues were not learned in {_MOST_STEPS} steps: loss {loss.item():.4f}")


def _row(torch: Any, ids: list[int], written: list[bool]) -> tuple[Any, Any]:
    return torch.tensor(ids), torch.tensor([one if own else -100 for one, own in zip(ids, written, strict=True)])


def _padded(torch: Any, row: Any, length: int, value: int) -> Any:
    return torch.nn.functional.pad(row, (0, length - len(row)), value=value)


def make(directory: Path, size: str, seed: int = 7) -> None:
    """Write the model `size`, `tiny` or `load`."""
    torch, transformers = import_module("torch"), import_module("transformers")
    texts = [json.dumps(DIALOGUES, indent=1), json.dumps(TOOLS)]
    tokenizer = tokenizer_of(texts, 1_024)
    if size == "tiny":
        model = taught(config_of(tokenizer, hidden=128, layers=2, vocabulary=1_024), tokenizer, seed)
    else:
        torch.manual_seed(seed)
        model = transformers.LlamaForCausalLM(config_of(tokenizer, hidden=1_024, layers=8, vocabulary=4_096))
    model.generation_config = transformers.GenerationConfig(eos_token_id=tokenizer.eos_token_id)
    model.save_pretrained(directory)
    tokenizer.save_pretrained(directory)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("directory", type=Path)
    parser.add_argument("--size", choices=["tiny", "load"], default="tiny")
    asked = parser.parse_args()
    make(asked.directory, asked.size)
