# Bash ends words at colons. Complete a word with colons as a whole, and offer only the part after the last one.
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
