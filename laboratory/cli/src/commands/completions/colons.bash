# Bash takes a colon for the end of a word. Where the word has one, ask for the whole of it, and offer what follows the last.
_carryline() {
    local line=${COMP_LINE:0:COMP_POINT} words whole
    read -ra words <<< "$line"
    [[ $line == *[[:space:]] ]] && words+=("")
    whole=${words[${#words[@]} - 1]}
    if [[ $whole != *:* || $COMP_WORDBREAKS != *:* ]]; then
        _clap_complete_carryline "$@"
        return
    fi
    local COMP_WORDS=("${words[@]}") COMP_CWORD=$((${#words[@]} - 1)) before=${whole%"${whole##*:}"}
    _clap_complete_carryline "$1" "$whole" "$3"
    COMPREPLY=("${COMPREPLY[@]#"$before"}")
}
complete -o nospace -o bashdefault -F _carryline carryline
