#!/bin/sh
# Written by Holdfast: makes sshd trust the certificate authorities of /etc/ssh/holdfast. It may run any number of times, at every
# boot or by hand, and changes nothing that is as it should be.
set -eu
umask 022
PATH=$PATH:/usr/local/sbin:/usr/sbin:/sbin

keys=/etc/ssh/holdfast/user_ca.pub
dropin=/etc/ssh/sshd_config.d/00-holdfast.conf
config=/etc/ssh/sshd_config

if ! [ -s "$keys" ] || ! [ -s "$dropin" ]; then
	echo "holdfast: $keys or $dropin is missing: another part of the user data replaced write_files" >&2
	exit 1
fi

# globals FILE: "keyword value" of what holds for every connection: all before the first Match.
globals() {
	while IFS=' 	=' read -r keyword value || [ -n "$keyword" ]; do
		case $keyword in '' | '#'*) continue ;; esac
		keyword=$(printf '%s' "$keyword" | tr '[:upper:]' '[:lower:]')
		[ "$keyword" != match ] || return 0
		value=${value#\"}
		printf '%s %s\n' "$keyword" "${value%\"}"
	done <"$1"
}

# includes: is the first that the configuration says of our subject that it reads the drop-ins? sshd takes the first value of a keyword.
includes() {
	first=$(globals "$1" | grep -E '^(include .*sshd_config\.d/|trustedusercakeys |authorizedprincipalsfile )' | head -n 1)
	case $first in include*) return 0 ;; *) return 1 ;; esac
}

# adopt FILE: sshd trusts the authorities of one file; what the image or the user trusted for every connection must be in ours too.
adopt() {
	globals "$1" | while read -r keyword value; do
		if [ "$keyword" = trustedusercakeys ] && [ "$value" != "$keys" ] && [ -f "$value" ]; then
			while read -r key || [ -n "$key" ]; do
				grep -qxF -e "$key" "$keys" || printf '%s\n' "$key" >>"$keys"
			done <"$value"
		fi
	done
}

# settle: an sshd that reads no drop-ins is told in its configuration, before anything else.
settle() {
	candidate=$config.holdfast
	cp -p "$config" "$candidate"
	sed '/^# BEGIN holdfast$/,/^# END holdfast$/d' "$config" >"$candidate"
	adopt "$candidate"
	if ! includes "$candidate"; then
		{
			echo '# BEGIN holdfast'
			cat "$dropin"
			echo '# END holdfast'
			sed '/^# BEGIN holdfast$/,/^# END holdfast$/d' "$config"
		} >"$candidate"
	fi
	if cmp -s "$config" "$candidate"; then
		rm -f "$candidate"
	elif command -v sshd >/dev/null && sshd -t -f "$config" 2>/dev/null && ! sshd -t -f "$candidate"; then
		rm -f "$candidate"
		echo "holdfast: sshd refuses $config with $dropin: left as it was" >&2
		exit 1
	else
		mv -f "$candidate" "$config"
	fi
}

# reload: an sshd that runs reads its configuration again; one that does not reads it when it starts.
reload() {
	if [ -d /run/systemd/system ]; then
		for unit in ssh.service sshd.service; do
			if systemctl is-active --quiet "$unit"; then
				systemctl reload "$unit"
				return
			fi
		done
	elif [ -s /run/sshd.pid ]; then
		kill -HUP "$(cat /run/sshd.pid)"
	fi
}

for file in /etc/ssh/sshd_config.d/*.conf; do
	[ "$file" = "$dropin" ] || ! [ -f "$file" ] || adopt "$file"
done
# Where there is none, the distribution's own reads the drop-ins (/usr/etc/ssh/sshd_config).
[ ! -f "$config" ] || settle
reload
