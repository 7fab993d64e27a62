# SPDX-License-Identifier: Apache-2.0
#
# Completion of the driver for bash: commands, options, and the values of an option that lists them, as --help says them.
# Installed as share/bash-completion/completions/karpos; or: source perf/tool/manual/karpos.bash

# The words behind "{" and before "}" in the help of an option.
_karpos_values() {
  "$1" "$2" --help 2> /dev/null | sed -n "s/^  [^{]*$3 [^{]*{\([^}]*\)}.*/\1/p" | tr ',' '\n' | sed '/^$/d'
}

_karpos() {
  local driver=${COMP_WORDS[0]} word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD - 1]} command="" i words
  COMPREPLY=()
  for ((i = 1; i < COMP_CWORD; ++i)); do
    [[ ${COMP_WORDS[i]} == -* ]] || { command=${COMP_WORDS[i]}; break; }
  done
  if [[ -z $command ]]; then
    words="--help --version $("$driver" --help 2> /dev/null | sed -n '/^Commands:/,/^$/s/^  \([a-z][a-z_]*\) .*/\1/p')"
  elif [[ $word == -* ]]; then
    words=$("$driver" "$command" --help 2> /dev/null | sed -n 's/^  \(-[^ ]*\).*/\1/p' | tr ',' '\n' | grep -- '^--')
  elif [[ $before == --* ]]; then
    words=$(_karpos_values "$driver" "$command" "$before")
  fi
  [[ -n ${words:-} ]] && mapfile -t COMPREPLY < <(compgen -W "$words" -- "$word")
}
complete -o default -F _karpos karpos
