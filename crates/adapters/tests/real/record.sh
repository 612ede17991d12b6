#!/usr/bin/env bash
# Records the answers of the two real servers, as they came over the wire, into tests/corpus/real.
# Usage: record.sh LLAMA_PORT LITELLM_PORT      (both on loopback, set up as in tests/real; the first with its default of interrupt_requests)
# Prints a line for each file: name, status, content type, and whether the connection was cut before the end.
set -euo pipefail
llama=$1 litellm=$2
folder=$(cd "$(dirname "$0")/../corpus/real" && pwd)
key=sk-real-1234
talk='"messages":[{"role":"system","content":"Be brief."},{"role":"user","content":"Hello"}]'
tools='"tools":[{"type":"function","function":{"name":"fs_read","description":"Read a file.","parameters":
{"type":"object","properties":{"path":{"type":"string"},"limit":{"type":"integer"}},"required":["path"]}}},
{"type":"function","function":{"name":"fs_write","description":"Write a file.","parameters":
{"type":"object","properties":{"path":{"type":"string"},"text":{"type":"string"}},"required":["path","text"]}}}]'
auto='"tool_choice":"auto"'
forced='"tool_choice":{"type":"function","function":{"name":"fs_read"}}'
stream='"stream":true,"stream_options":{"include_usage":true}'
few='"max_tokens":24'

# ask FILE PORT BODY [PATH] [KEY]
ask() {
    local cut='' said
    said=$(curl --silent --no-buffer --max-time 120 --output "$folder/$1.txt" \
        --write-out '| %{http_code} | %{content_type} |' \
        --header "Authorization: Bearer ${5-$key}" --header 'Content-Type: application/json' \
        --data "$3" "http://127.0.0.1:$2${4-/v1/chat/completions}") || cut="cut (curl: $?)"
    # A body of no bytes leaves no file.
    touch "$folder/$1.txt"
    # A complaint names a file of the server; where it is installed is nobody's business.
    sed -i 's#[^" ]*/site-packages/#/site-packages/#' "$folder/$1.txt"
    echo "| \`$1\` $said $cut"
}

long=$(printf 'long %.0s' {1..200})
# By default this server ends a stream when another request comes.
ask llama-interrupted-streamed "$llama" "{\"model\":\"endless\",$talk,$stream,\"max_tokens\":4000}" &
sleep 0.3
ask llama-length            "$llama" "{\"model\":\"talker\",$talk,\"max_tokens\":3}"
wait
ask llama-plain             "$llama" "{\"model\":\"talker\",$talk}"
ask llama-plain-streamed    "$llama" "{\"model\":\"talker\",$talk,$stream,\"seed\":4}"
ask llama-length-streamed   "$llama" "{\"model\":\"talker\",$talk,$stream,\"max_tokens\":3}"
ask llama-call-auto         "$llama" "{\"model\":\"caller\",$talk,$tools,$auto}"
ask llama-talk-auto         "$llama" "{\"model\":\"talker\",$talk,$tools,$auto}"
ask llama-auto-streamed     "$llama" "{\"model\":\"caller\",$talk,$tools,$auto,$stream}"
ask llama-call              "$llama" "{\"model\":\"caller\",$talk,$tools,$forced}"
ask llama-call-streamed     "$llama" "{\"model\":\"caller\",$talk,$tools,$forced,$stream}"
ask llama-cut-call          "$llama" "{\"model\":\"endless\",$talk,$tools,$forced,$few}"
ask llama-cut-call-streamed "$llama" "{\"model\":\"endless\",$talk,$tools,$forced,$few,$stream}"
ask llama-window            "$llama" "{\"model\":\"short\",\"messages\":[{\"role\":\"user\",\"content\":\"$long\"}]}"
ask llama-window-streamed   "$llama" "{\"model\":\"short\",\"messages\":[{\"role\":\"user\",\"content\":\"$long\"}],$stream}"
ask llama-bad-request       "$llama" "{\"model\":\"talker\",\"messages\":7}"
ask llama-no-null           "$llama" "{\"model\":\"caller\",\"messages\":[{\"role\":\"assistant\",\"content\":null,\"tool_calls\":[]}]}"
ask llama-no-json           "$llama" "{\"model\":"
ask llama-no-such-tool      "$llama" "{\"model\":\"caller\",$talk,$tools,${forced/fs_read/nowhere}}"
ask llama-wrong-key         "$llama" "{\"model\":\"talker\",$talk}" /v1/chat/completions wrong
ask llama-wrong-path        "$llama" "{\"model\":\"talker\",$talk}" /chat/completions

ask litellm-plain             "$litellm" "{\"model\":\"plain\",$talk}"
ask litellm-plain-streamed    "$litellm" "{\"model\":\"plain\",$talk,$stream}"
ask litellm-call              "$litellm" "{\"model\":\"call\",$talk,$tools}"
ask litellm-call-streamed     "$litellm" "{\"model\":\"call\",$talk,$tools,$stream}"
ask litellm-cut-call          "$litellm" "{\"model\":\"cut-write\",$talk,$tools}"
ask litellm-rate              "$litellm" "{\"model\":\"rate\",$talk}"
ask litellm-window            "$litellm" "{\"model\":\"window\",$talk}"
ask litellm-server            "$litellm" "{\"model\":\"server\",$talk}"
ask litellm-filter            "$litellm" "{\"model\":\"filter\",$talk}"
ask litellm-overloaded        "$litellm" "{\"model\":\"overloaded\",$talk}"
ask litellm-slow              "$litellm" "{\"model\":\"slow\",$talk}"
ask litellm-no-model          "$litellm" "{\"model\":\"nowhere\",$talk}"
ask litellm-wrong-key         "$litellm" "{\"model\":\"plain\",$talk}" /v1/chat/completions wrong
ask litellm-empty-key         "$litellm" "{\"model\":\"plain\",$talk}" /v1/chat/completions ''
ask litellm-wrong-path        "$litellm" "{\"model\":\"plain\",$talk}" /v1/nowhere
ask litellm-bad-request       "$litellm" "{\"model\":\"plain\"}"

# The proxy in front of the other server.
ask both-plain-streamed    "$litellm" "{\"model\":\"llama/talker\",$talk,$stream,\"seed\":4}"
ask both-call              "$litellm" "{\"model\":\"llama/caller\",$talk,$tools,$forced}"
ask both-call-streamed     "$litellm" "{\"model\":\"llama/caller\",$talk,$tools,$forced,$stream}"
ask both-cut-call          "$litellm" "{\"model\":\"llama/endless\",$talk,$tools,$forced,$few}"
ask both-cut-call-streamed "$litellm" "{\"model\":\"llama/endless\",$talk,$tools,$forced,$few,$stream}"
ask both-auto-streamed     "$litellm" "{\"model\":\"llama/caller\",$talk,$tools,$auto,$stream}"
ask both-window            "$litellm" "{\"model\":\"llama/short\",\"messages\":[{\"role\":\"user\",\"content\":\"$long\"}]}"
ask both-window-streamed   "$litellm" "{\"model\":\"llama/short\",\"messages\":[{\"role\":\"user\",\"content\":\"$long\"}],$stream}"
