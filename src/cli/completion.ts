/** `binnacle completion` */
import { basename } from "node:path";
import { COMPLETE, type Command, command } from "./command.ts";

const shells = ["bash", "zsh", "fish"] as const;
export type Shell = (typeof shells)[number];

export const completionCommand: Command = command({
  options: [
    {
      name: "shell",
      type: "string",
      positional: true,
      choices: shells,
      describe: "bash, zsh or fish [default: that of $SHELL, else bash]",
    },
  ],
  run({ shell }, { env, out }) {
    const own = basename(env["SHELL"] ?? "");
    out(scripts[shell ?? shells.find((known) => known === own) ?? "bash"]);
    return Promise.resolve(0);
  },
});

/** Without candidates, these scripts complete paths. */
const scripts: Readonly<Record<Shell, string>> = {
  bash: `# Put this into ~/.bashrc: source <(binnacle completion bash)
_binnacle() {
  mapfile -t COMPREPLY < <(binnacle ${COMPLETE} bash "\${COMP_WORDS[@]:0:COMP_CWORD+1}" 2>/dev/null)
}
complete -o bashdefault -o default -F _binnacle binnacle
`,
  zsh: `#compdef binnacle
# Put this into ~/.zshrc, after compinit: source <(binnacle completion zsh)
_binnacle() {
  local -a candidates
  candidates=("\${(@f)$(binnacle ${COMPLETE} zsh "\${(@)words[1,CURRENT]}" 2>/dev/null)}")
  if [[ -n "\${candidates[1]}" ]]; then _describe binnacle candidates; else _default; fi
}
if [[ "\${zsh_eval_context[-1]}" == "loadautofunc" ]]; then _binnacle "$@"; else compdef _binnacle binnacle; fi
`,
  fish: `# Save this as ~/.config/fish/completions/binnacle.fish
function __binnacle_complete
  set -l words (commandline -opc)
  set -l current (commandline -ct)
  set -l candidates (binnacle ${COMPLETE} fish $words "$current" 2>/dev/null)
  if set -q candidates[1]
    printf '%s\n' $candidates
  else
    complete -C "'' $current"
  end
end
complete -f -c binnacle -a '(__binnacle_complete)'
`,
};
