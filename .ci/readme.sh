# What the README says, for the scripts that do as it says; source it after settings.sh.

# readme_command NAME: the shell block that follows the marker <!-- command: NAME --> in README.md.
readme_command() {
  local text
  text=$(sed -n "/^<!-- command: $1 -->\$/,/^\`\`\`\$/p" "$ROOT/README.md" | sed -e '1,2d' -e '$d')
  if [[ -z $text ]]; then
    echo "readme.sh: README.md has no command marked '$1'" >&2
    return 1
  fi
  printf '%s\n' "$text"
}

# readme_packages: the Debian packages that the README's `apt install` line names.
readme_packages() {
  local words
  words=$(grep -Eo '`(sudo )?apt install [a-z0-9 .+-]+`' "$ROOT/README.md" | head -n 1 | tr -d '`')
  if [[ -z $words ]]; then
    echo "readme.sh: README.md names no Debian packages (\`sudo apt install ...\`)" >&2
    return 1
  fi
  printf '%s\n' "${words#*apt install }"
}
