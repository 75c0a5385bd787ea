# Print an optspec for argparse to handle cmd's options that are independent of any subcommand.
function __fish_fanscope_global_optspecs
    string join \n b/budget= m/mode= k/quorum= hedge-delay= every= probe= ab= H/header= insecure seed= warmup= record= force metrics= color= ascii theme= no-mouse print-config config= h/help V/version
end

function __fish_fanscope_needs_command
    # Figure out if the current invocation already has a command.
    set -l cmd (commandline -opc)
    set -e cmd[1]
    argparse -s (__fish_fanscope_global_optspecs) -- $cmd 2>/dev/null
    or return
    if set -q argv[1]
        # Also print the command, so this can be used to figure out what it is.
        echo $argv[1]
        return 1
    end
    return 0
end

function __fish_fanscope_using_subcommand
    set -l cmd (__fish_fanscope_needs_command)
    test -z "$cmd"
    and return 1
    contains -- $cmd[1] $argv
end

complete -c fanscope -n "__fish_fanscope_needs_command" -s b -l budget -d 'How long the optional calls of a round may take' -r
complete -c fanscope -n "__fish_fanscope_needs_command" -s m -l mode -d 'The contract: deadline, quorum, hedge, wait-all or fail-fast' -r -f -a "deadline\t''
quorum\t''
hedge\t''
wait-all\t''
fail-fast\t''"
complete -c fanscope -n "__fish_fanscope_needs_command" -s k -l quorum -d 'Answers that are enough in quorum mode' -r
complete -c fanscope -n "__fish_fanscope_needs_command" -l hedge-delay -d 'When a hedge is sent in hedge mode: a time, a percentile such as p95, or 0ms for a race' -r
complete -c fanscope -n "__fish_fanscope_needs_command" -l every -d 'From one round\'s start to the next; 0ms: when the last has ended' -r
complete -c fanscope -n "__fish_fanscope_needs_command" -l probe -d 'Share of the rounds whose stragglers are watched past the budget, such as 5%' -r
complete -c fanscope -n "__fish_fanscope_needs_command" -l ab -d 'Two variants that rounds have in turn: budget=150ms,250ms, or mode, quorum, hedge' -r
complete -c fanscope -n "__fish_fanscope_needs_command" -s H -l header -d 'A header for every request, repeatable' -r
complete -c fanscope -n "__fish_fanscope_needs_command" -l seed -d 'Seed of the embedded upstreams and of the choice of probe rounds' -r
complete -c fanscope -n "__fish_fanscope_needs_command" -l warmup -d 'First rounds that are shown and recorded, and left out of every statistic' -r
complete -c fanscope -n "__fish_fanscope_needs_command" -l record -d 'Write every round down, a JSON object a line; packed where it ends in .gz or .zst' -r -F
complete -c fanscope -n "__fish_fanscope_needs_command" -l metrics -d 'Serve Prometheus metrics at this port (of loopback) or address' -r
complete -c fanscope -n "__fish_fanscope_needs_command" -l color -d 'Whether to use colour: auto is as the terminal and the environment say' -r -f -a "auto\t''
always\t''
never\t''"
complete -c fanscope -n "__fish_fanscope_needs_command" -l theme -d 'The theme at the start; the key t goes to the next' -r -f -a "terminal\t''
dark\t''
light\t''
high-contrast\t''
colour-blind-safe\t''
mono\t''"
complete -c fanscope -n "__fish_fanscope_needs_command" -l config -d 'The configuration; else the file that FANSCOPE_CONFIG names, else ~/.config/fanscope/config.toml' -r -F
complete -c fanscope -n "__fish_fanscope_needs_command" -l insecure -d 'Accept any TLS certificate'
complete -c fanscope -n "__fish_fanscope_needs_command" -l force -d 'Overwrite the file that --record names'
complete -c fanscope -n "__fish_fanscope_needs_command" -l ascii -d 'Draw with 7-bit characters only'
complete -c fanscope -n "__fish_fanscope_needs_command" -l no-mouse -d 'Leave the mouse to the terminal'
complete -c fanscope -n "__fish_fanscope_needs_command" -l print-config -d 'Print the configuration that holds, as a file that --config takes, and end'
complete -c fanscope -n "__fish_fanscope_needs_command" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c fanscope -n "__fish_fanscope_needs_command" -s V -l version -d 'Print version'
complete -c fanscope -n "__fish_fanscope_needs_command" -a "run" -d 'Run rounds without a terminal and print the result'
complete -c fanscope -n "__fish_fanscope_needs_command" -a "demo" -d 'Tell the story of the budget in seven chapters, live'
complete -c fanscope -n "__fish_fanscope_needs_command" -a "replay" -d 'Show a recording on the dashboard'
complete -c fanscope -n "__fish_fanscope_needs_command" -a "check" -d 'Check profiles and explain what they would do'
complete -c fanscope -n "__fish_fanscope_needs_command" -a "report" -d 'Sum up recordings'
complete -c fanscope -n "__fish_fanscope_needs_command" -a "init" -d 'Write a first profile: a starter, or one made of URLs, curl commands, a HAR or an API\'s description'
complete -c fanscope -n "__fish_fanscope_needs_command" -a "completions" -d 'Print completions for a shell'
complete -c fanscope -n "__fish_fanscope_needs_command" -a "man" -d 'Print a man page'
complete -c fanscope -n "__fish_fanscope_needs_command" -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c fanscope -n "__fish_fanscope_using_subcommand run" -s b -l budget -d 'How long the optional calls of a round may take' -r
complete -c fanscope -n "__fish_fanscope_using_subcommand run" -s m -l mode -d 'The contract: deadline, quorum, hedge, wait-all or fail-fast' -r -f -a "deadline\t''
quorum\t''
hedge\t''
wait-all\t''
fail-fast\t''"
complete -c fanscope -n "__fish_fanscope_using_subcommand run" -s k -l quorum -d 'Answers that are enough in quorum mode' -r
complete -c fanscope -n "__fish_fanscope_using_subcommand run" -l hedge-delay -d 'When a hedge is sent in hedge mode: a time, a percentile such as p95, or 0ms for a race' -r
complete -c fanscope -n "__fish_fanscope_using_subcommand run" -l every -d 'From one round\'s start to the next; 0ms: when the last has ended' -r
complete -c fanscope -n "__fish_fanscope_using_subcommand run" -l probe -d 'Share of the rounds whose stragglers are watched past the budget, such as 5%' -r
complete -c fanscope -n "__fish_fanscope_using_subcommand run" -l ab -d 'Two variants that rounds have in turn: budget=150ms,250ms, or mode, quorum, hedge' -r
complete -c fanscope -n "__fish_fanscope_using_subcommand run" -s H -l header -d 'A header for every request, repeatable' -r
complete -c fanscope -n "__fish_fanscope_using_subcommand run" -l seed -d 'Seed of the embedded upstreams and of the choice of probe rounds' -r
complete -c fanscope -n "__fish_fanscope_using_subcommand run" -l warmup -d 'First rounds that are shown and recorded, and left out of every statistic' -r
complete -c fanscope -n "__fish_fanscope_using_subcommand run" -l record -d 'Write every round down, a JSON object a line; packed where it ends in .gz or .zst' -r -F
complete -c fanscope -n "__fish_fanscope_using_subcommand run" -l metrics -d 'Serve Prometheus metrics at this port (of loopback) or address' -r
complete -c fanscope -n "__fish_fanscope_using_subcommand run" -s n -l rounds -d 'Rounds to complete; without it and --for 20' -r
complete -c fanscope -n "__fish_fanscope_using_subcommand run" -l for -d 'Start rounds for so long, at most -n of them' -r
complete -c fanscope -n "__fish_fanscope_using_subcommand run" -l format -d 'What is printed on standard output' -r -f -a "text\t'A summary for people'
json\t'JSON for programs: of a run one object a line, of a report one object'"
complete -c fanscope -n "__fish_fanscope_using_subcommand run" -l gate -d 'What has to hold, such as \'completeness>=0.98\'; repeatable' -r
complete -c fanscope -n "__fish_fanscope_using_subcommand run" -l baseline -d 'A recording whose values gates may name: \'p99<=baseline+20ms\'' -r -F
complete -c fanscope -n "__fish_fanscope_using_subcommand run" -l config -d 'The configuration; else the file that FANSCOPE_CONFIG names, else ~/.config/fanscope/config.toml' -r -F
complete -c fanscope -n "__fish_fanscope_using_subcommand run" -l insecure -d 'Accept any TLS certificate'
complete -c fanscope -n "__fish_fanscope_using_subcommand run" -l force -d 'Overwrite the file that --record names'
complete -c fanscope -n "__fish_fanscope_using_subcommand run" -l ascii -d 'Print with 7-bit characters only'
complete -c fanscope -n "__fish_fanscope_using_subcommand run" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c fanscope -n "__fish_fanscope_using_subcommand demo" -l color -d 'Whether to use colour: auto is as the terminal and the environment say' -r -f -a "auto\t''
always\t''
never\t''"
complete -c fanscope -n "__fish_fanscope_using_subcommand demo" -l theme -d 'The theme at the start; the key t goes to the next' -r -f -a "terminal\t''
dark\t''
light\t''
high-contrast\t''
colour-blind-safe\t''
mono\t''"
complete -c fanscope -n "__fish_fanscope_using_subcommand demo" -l config -d 'The configuration; else the file that FANSCOPE_CONFIG names, else ~/.config/fanscope/config.toml' -r -F
complete -c fanscope -n "__fish_fanscope_using_subcommand demo" -l ascii -d 'Draw with 7-bit characters only'
complete -c fanscope -n "__fish_fanscope_using_subcommand demo" -l no-mouse -d 'Leave the mouse to the terminal'
complete -c fanscope -n "__fish_fanscope_using_subcommand demo" -l print-config -d 'Print the configuration that holds, as a file that --config takes, and end'
complete -c fanscope -n "__fish_fanscope_using_subcommand demo" -s h -l help -d 'Print help'
complete -c fanscope -n "__fish_fanscope_using_subcommand replay" -l speed -d 'How fast it is played: 1/4 to 64, in powers of two' -r
complete -c fanscope -n "__fish_fanscope_using_subcommand replay" -l color -d 'Whether to use colour: auto is as the terminal and the environment say' -r -f -a "auto\t''
always\t''
never\t''"
complete -c fanscope -n "__fish_fanscope_using_subcommand replay" -l theme -d 'The theme at the start; the key t goes to the next' -r -f -a "terminal\t''
dark\t''
light\t''
high-contrast\t''
colour-blind-safe\t''
mono\t''"
complete -c fanscope -n "__fish_fanscope_using_subcommand replay" -l config -d 'The configuration; else the file that FANSCOPE_CONFIG names, else ~/.config/fanscope/config.toml' -r -F
complete -c fanscope -n "__fish_fanscope_using_subcommand replay" -l ascii -d 'Draw with 7-bit characters only'
complete -c fanscope -n "__fish_fanscope_using_subcommand replay" -l no-mouse -d 'Leave the mouse to the terminal'
complete -c fanscope -n "__fish_fanscope_using_subcommand replay" -l print-config -d 'Print the configuration that holds, as a file that --config takes, and end'
complete -c fanscope -n "__fish_fanscope_using_subcommand replay" -s h -l help -d 'Print help'
complete -c fanscope -n "__fish_fanscope_using_subcommand check" -l config -d 'The configuration; else the file that FANSCOPE_CONFIG names, else ~/.config/fanscope/config.toml' -r -F
complete -c fanscope -n "__fish_fanscope_using_subcommand check" -l list -d 'List the built-in profiles'
complete -c fanscope -n "__fish_fanscope_using_subcommand check" -s h -l help -d 'Print help'
complete -c fanscope -n "__fish_fanscope_using_subcommand report" -l at -d 'Budgets to recount, such as 50ms,100ms; by default steps up to twice the one that ran' -r
complete -c fanscope -n "__fish_fanscope_using_subcommand report" -s k -l quorum -d 'Answers that are enough; by default as recorded' -r
complete -c fanscope -n "__fish_fanscope_using_subcommand report" -l format -d 'What is printed on standard output' -r -f -a "text\t'A summary for people'
json\t'JSON for programs: of a run one object a line, of a report one object'"
complete -c fanscope -n "__fish_fanscope_using_subcommand report" -l html -d 'Write a page as well; nothing in it is loaded from elsewhere' -r -F
complete -c fanscope -n "__fish_fanscope_using_subcommand report" -l config -d 'The configuration; else the file that FANSCOPE_CONFIG names, else ~/.config/fanscope/config.toml' -r -F
complete -c fanscope -n "__fish_fanscope_using_subcommand report" -l compare -d 'Set two recordings side by side, the older first'
complete -c fanscope -n "__fish_fanscope_using_subcommand report" -l force -d 'Let the page replace a file'
complete -c fanscope -n "__fish_fanscope_using_subcommand report" -l ascii -d 'Draw with 7-bit characters only'
complete -c fanscope -n "__fish_fanscope_using_subcommand report" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c fanscope -n "__fish_fanscope_using_subcommand init" -l har -d 'Read a HAR; - is standard input' -r -F
complete -c fanscope -n "__fish_fanscope_using_subcommand init" -l openapi -d 'Read the description of an API (openapi 3, as JSON); - is standard input' -r -F
complete -c fanscope -n "__fish_fanscope_using_subcommand init" -l server -d 'The server to ask instead of the one that the description names' -r
complete -c fanscope -n "__fish_fanscope_using_subcommand init" -s o -l output -d 'Write to a file instead of standard output' -r -F
complete -c fanscope -n "__fish_fanscope_using_subcommand init" -l curl -d 'Read curl commands from standard input'
complete -c fanscope -n "__fish_fanscope_using_subcommand init" -l force -d 'Let it replace a file'
complete -c fanscope -n "__fish_fanscope_using_subcommand init" -s h -l help -d 'Print help'
complete -c fanscope -n "__fish_fanscope_using_subcommand completions" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c fanscope -n "__fish_fanscope_using_subcommand man" -s h -l help -d 'Print help'
complete -c fanscope -n "__fish_fanscope_using_subcommand help; and not __fish_seen_subcommand_from run demo replay check report init completions man help" -f -a "run" -d 'Run rounds without a terminal and print the result'
complete -c fanscope -n "__fish_fanscope_using_subcommand help; and not __fish_seen_subcommand_from run demo replay check report init completions man help" -f -a "demo" -d 'Tell the story of the budget in seven chapters, live'
complete -c fanscope -n "__fish_fanscope_using_subcommand help; and not __fish_seen_subcommand_from run demo replay check report init completions man help" -f -a "replay" -d 'Show a recording on the dashboard'
complete -c fanscope -n "__fish_fanscope_using_subcommand help; and not __fish_seen_subcommand_from run demo replay check report init completions man help" -f -a "check" -d 'Check profiles and explain what they would do'
complete -c fanscope -n "__fish_fanscope_using_subcommand help; and not __fish_seen_subcommand_from run demo replay check report init completions man help" -f -a "report" -d 'Sum up recordings'
complete -c fanscope -n "__fish_fanscope_using_subcommand help; and not __fish_seen_subcommand_from run demo replay check report init completions man help" -f -a "init" -d 'Write a first profile: a starter, or one made of URLs, curl commands, a HAR or an API\'s description'
complete -c fanscope -n "__fish_fanscope_using_subcommand help; and not __fish_seen_subcommand_from run demo replay check report init completions man help" -f -a "completions" -d 'Print completions for a shell'
complete -c fanscope -n "__fish_fanscope_using_subcommand help; and not __fish_seen_subcommand_from run demo replay check report init completions man help" -f -a "man" -d 'Print a man page'
complete -c fanscope -n "__fish_fanscope_using_subcommand help; and not __fish_seen_subcommand_from run demo replay check report init completions man help" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
