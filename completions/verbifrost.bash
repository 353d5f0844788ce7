# SPDX-License-Identifier: BSD-2-Clause
# bash completion of verbifrost(1); tests/cli compares it with the command's own help.

_verbifrost_devices()
{
	verbifrost devices --json 2>/dev/null | sed -n 's/^ *"device": "\(.*\)",$/\1/p'
}

_verbifrost()
{
	local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD - 1]} command=${COMP_WORDS[1]} options=
	local commands="devices info run ping bench doctor env help"

	COMPREPLY=()
	if [[ $COMP_CWORD -eq 1 ]]; then
		mapfile -t COMPREPLY < <(compgen -W "$commands --help --version" -- "$word")
		return
	fi
	case $before in
	-d | --device)
		mapfile -t COMPREPLY < <(compgen -W "$(_verbifrost_devices)" -- "$word")
		return
		;;
	-t | --transport)
		mapfile -t COMPREPLY < <(compgen -W "rc uc ud all" -- "$word")
		return
		;;
	-o | --operation)
		mapfile -t COMPREPLY < <(compgen -W "send write read atomic all" -- "$word")
		return
		;;
	-m | --measure)
		mapfile -t COMPREPLY < <(compgen -W "bandwidth latency all" -- "$word")
		return
		;;
	--mtu)
		mapfile -t COMPREPLY < <(compgen -W "256 512 1024 2048 4096" -- "$word")
		return
		;;
	-l | --library-dir)
		mapfile -t COMPREPLY < <(compgen -d -- "$word")
		return
		;;
	esac
	case $command in
	devices) options="--all --json --help" ;;
	info) options="--counters --json --help" ;;
	run) options="--explain --library-dir --print-dir --help" ;;
	ping) options="--self --server --once --device --gid-index --port --transport --size --count --interval --json --help" ;;
	bench) options="--self --server --once --device --gid-index --port --transport --operation --measure --size --count --duration
		--depth --mtu --events --no-verify --link-rate --no-preflight --json --help" ;;
	doctor) options="--peer --port --no-transfer --json --help" ;;
	env) options="--json --help" ;;
	help) options="--help $commands" ;;
	esac
	if [[ $word == -* || $command == help ]]; then
		mapfile -t COMPREPLY < <(compgen -W "$options" -- "$word")
	elif [[ $command == info ]]; then
		mapfile -t COMPREPLY < <(compgen -W "$(_verbifrost_devices)" -- "$word")
	elif [[ $command == run ]]; then
		mapfile -t COMPREPLY < <(compgen -c -- "$word")
	elif [[ $command == ping || $command == bench ]]; then
		mapfile -t COMPREPLY < <(compgen -A hostname -- "$word")
	fi
}

complete -o default -F _verbifrost verbifrost
