
using namespace System.Management.Automation
using namespace System.Management.Automation.Language

Register-ArgumentCompleter -Native -CommandName 'fanscope' -ScriptBlock {
    param($wordToComplete, $commandAst, $cursorPosition)

    $commandElements = $commandAst.CommandElements
    $command = @(
        'fanscope'
        for ($i = 1; $i -lt $commandElements.Count; $i++) {
            $element = $commandElements[$i]
            if ($element -isnot [StringConstantExpressionAst] -or
                $element.StringConstantType -ne [StringConstantType]::BareWord -or
                $element.Value.StartsWith('-') -or
                $element.Value -eq $wordToComplete) {
                break
        }
        $element.Value
    }) -join ';'

    $completions = @(switch ($command) {
        'fanscope' {
            [CompletionResult]::new('-b', '-b', [CompletionResultType]::ParameterName, 'How long the optional calls of a round may take')
            [CompletionResult]::new('--budget', '--budget', [CompletionResultType]::ParameterName, 'How long the optional calls of a round may take')
            [CompletionResult]::new('-m', '-m', [CompletionResultType]::ParameterName, 'The contract: deadline, quorum, hedge, wait-all or fail-fast')
            [CompletionResult]::new('--mode', '--mode', [CompletionResultType]::ParameterName, 'The contract: deadline, quorum, hedge, wait-all or fail-fast')
            [CompletionResult]::new('-k', '-k', [CompletionResultType]::ParameterName, 'Answers that are enough in quorum mode')
            [CompletionResult]::new('--quorum', '--quorum', [CompletionResultType]::ParameterName, 'Answers that are enough in quorum mode')
            [CompletionResult]::new('--hedge-delay', '--hedge-delay', [CompletionResultType]::ParameterName, 'When a hedge is sent in hedge mode: a time, a percentile such as p95, or 0ms for a race')
            [CompletionResult]::new('--every', '--every', [CompletionResultType]::ParameterName, 'From one round''s start to the next; 0ms: when the last has ended')
            [CompletionResult]::new('--probe', '--probe', [CompletionResultType]::ParameterName, 'Share of the rounds whose stragglers are watched past the budget, such as 5%')
            [CompletionResult]::new('--ab', '--ab', [CompletionResultType]::ParameterName, 'Two variants that rounds have in turn: budget=150ms,250ms, or mode, quorum, hedge')
            [CompletionResult]::new('-H', '-H ', [CompletionResultType]::ParameterName, 'A header for every request, repeatable')
            [CompletionResult]::new('--header', '--header', [CompletionResultType]::ParameterName, 'A header for every request, repeatable')
            [CompletionResult]::new('--seed', '--seed', [CompletionResultType]::ParameterName, 'Seed of the embedded upstreams and of the choice of probe rounds')
            [CompletionResult]::new('--warmup', '--warmup', [CompletionResultType]::ParameterName, 'First rounds that are shown and recorded, and left out of every statistic')
            [CompletionResult]::new('--record', '--record', [CompletionResultType]::ParameterName, 'Write every round down, a JSON object a line; packed where it ends in .gz or .zst')
            [CompletionResult]::new('--metrics', '--metrics', [CompletionResultType]::ParameterName, 'Serve Prometheus metrics at this port (of loopback) or address')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'Whether to use colour: auto is as the terminal and the environment say')
            [CompletionResult]::new('--theme', '--theme', [CompletionResultType]::ParameterName, 'The theme at the start; the key t goes to the next')
            [CompletionResult]::new('--config', '--config', [CompletionResultType]::ParameterName, 'The configuration; else the file that FANSCOPE_CONFIG names, else ~/.config/fanscope/config.toml')
            [CompletionResult]::new('--insecure', '--insecure', [CompletionResultType]::ParameterName, 'Accept any TLS certificate')
            [CompletionResult]::new('--force', '--force', [CompletionResultType]::ParameterName, 'Overwrite the file that --record names')
            [CompletionResult]::new('--ascii', '--ascii', [CompletionResultType]::ParameterName, 'Draw with 7-bit characters only')
            [CompletionResult]::new('--no-mouse', '--no-mouse', [CompletionResultType]::ParameterName, 'Leave the mouse to the terminal')
            [CompletionResult]::new('--print-config', '--print-config', [CompletionResultType]::ParameterName, 'Print the configuration that holds, as a file that --config takes, and end')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('-V', '-V ', [CompletionResultType]::ParameterName, 'Print version')
            [CompletionResult]::new('--version', '--version', [CompletionResultType]::ParameterName, 'Print version')
            [CompletionResult]::new('run', 'run', [CompletionResultType]::ParameterValue, 'Run rounds without a terminal and print the result')
            [CompletionResult]::new('demo', 'demo', [CompletionResultType]::ParameterValue, 'Tell the story of the budget in seven chapters, live')
            [CompletionResult]::new('replay', 'replay', [CompletionResultType]::ParameterValue, 'Show a recording on the dashboard')
            [CompletionResult]::new('check', 'check', [CompletionResultType]::ParameterValue, 'Check profiles and explain what they would do')
            [CompletionResult]::new('report', 'report', [CompletionResultType]::ParameterValue, 'Sum up recordings')
            [CompletionResult]::new('init', 'init', [CompletionResultType]::ParameterValue, 'Write a first profile: a starter, or one made of URLs, curl commands, a HAR or an API''s description')
            [CompletionResult]::new('completions', 'completions', [CompletionResultType]::ParameterValue, 'Print completions for a shell')
            [CompletionResult]::new('man', 'man', [CompletionResultType]::ParameterValue, 'Print a man page')
            [CompletionResult]::new('help', 'help', [CompletionResultType]::ParameterValue, 'Print this message or the help of the given subcommand(s)')
            break
        }
        'fanscope;run' {
            [CompletionResult]::new('-b', '-b', [CompletionResultType]::ParameterName, 'How long the optional calls of a round may take')
            [CompletionResult]::new('--budget', '--budget', [CompletionResultType]::ParameterName, 'How long the optional calls of a round may take')
            [CompletionResult]::new('-m', '-m', [CompletionResultType]::ParameterName, 'The contract: deadline, quorum, hedge, wait-all or fail-fast')
            [CompletionResult]::new('--mode', '--mode', [CompletionResultType]::ParameterName, 'The contract: deadline, quorum, hedge, wait-all or fail-fast')
            [CompletionResult]::new('-k', '-k', [CompletionResultType]::ParameterName, 'Answers that are enough in quorum mode')
            [CompletionResult]::new('--quorum', '--quorum', [CompletionResultType]::ParameterName, 'Answers that are enough in quorum mode')
            [CompletionResult]::new('--hedge-delay', '--hedge-delay', [CompletionResultType]::ParameterName, 'When a hedge is sent in hedge mode: a time, a percentile such as p95, or 0ms for a race')
            [CompletionResult]::new('--every', '--every', [CompletionResultType]::ParameterName, 'From one round''s start to the next; 0ms: when the last has ended')
            [CompletionResult]::new('--probe', '--probe', [CompletionResultType]::ParameterName, 'Share of the rounds whose stragglers are watched past the budget, such as 5%')
            [CompletionResult]::new('--ab', '--ab', [CompletionResultType]::ParameterName, 'Two variants that rounds have in turn: budget=150ms,250ms, or mode, quorum, hedge')
            [CompletionResult]::new('-H', '-H ', [CompletionResultType]::ParameterName, 'A header for every request, repeatable')
            [CompletionResult]::new('--header', '--header', [CompletionResultType]::ParameterName, 'A header for every request, repeatable')
            [CompletionResult]::new('--seed', '--seed', [CompletionResultType]::ParameterName, 'Seed of the embedded upstreams and of the choice of probe rounds')
            [CompletionResult]::new('--warmup', '--warmup', [CompletionResultType]::ParameterName, 'First rounds that are shown and recorded, and left out of every statistic')
            [CompletionResult]::new('--record', '--record', [CompletionResultType]::ParameterName, 'Write every round down, a JSON object a line; packed where it ends in .gz or .zst')
            [CompletionResult]::new('--metrics', '--metrics', [CompletionResultType]::ParameterName, 'Serve Prometheus metrics at this port (of loopback) or address')
            [CompletionResult]::new('-n', '-n', [CompletionResultType]::ParameterName, 'Rounds to complete; without it and --for 20')
            [CompletionResult]::new('--rounds', '--rounds', [CompletionResultType]::ParameterName, 'Rounds to complete; without it and --for 20')
            [CompletionResult]::new('--for', '--for', [CompletionResultType]::ParameterName, 'Start rounds for so long, at most -n of them')
            [CompletionResult]::new('--format', '--format', [CompletionResultType]::ParameterName, 'What is printed on standard output')
            [CompletionResult]::new('--gate', '--gate', [CompletionResultType]::ParameterName, 'What has to hold, such as ''completeness>=0.98''; repeatable')
            [CompletionResult]::new('--baseline', '--baseline', [CompletionResultType]::ParameterName, 'A recording whose values gates may name: ''p99<=baseline+20ms''')
            [CompletionResult]::new('--config', '--config', [CompletionResultType]::ParameterName, 'The configuration; else the file that FANSCOPE_CONFIG names, else ~/.config/fanscope/config.toml')
            [CompletionResult]::new('--insecure', '--insecure', [CompletionResultType]::ParameterName, 'Accept any TLS certificate')
            [CompletionResult]::new('--force', '--force', [CompletionResultType]::ParameterName, 'Overwrite the file that --record names')
            [CompletionResult]::new('--ascii', '--ascii', [CompletionResultType]::ParameterName, 'Print with 7-bit characters only')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            break
        }
        'fanscope;demo' {
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'Whether to use colour: auto is as the terminal and the environment say')
            [CompletionResult]::new('--theme', '--theme', [CompletionResultType]::ParameterName, 'The theme at the start; the key t goes to the next')
            [CompletionResult]::new('--config', '--config', [CompletionResultType]::ParameterName, 'The configuration; else the file that FANSCOPE_CONFIG names, else ~/.config/fanscope/config.toml')
            [CompletionResult]::new('--ascii', '--ascii', [CompletionResultType]::ParameterName, 'Draw with 7-bit characters only')
            [CompletionResult]::new('--no-mouse', '--no-mouse', [CompletionResultType]::ParameterName, 'Leave the mouse to the terminal')
            [CompletionResult]::new('--print-config', '--print-config', [CompletionResultType]::ParameterName, 'Print the configuration that holds, as a file that --config takes, and end')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help')
            break
        }
        'fanscope;replay' {
            [CompletionResult]::new('--speed', '--speed', [CompletionResultType]::ParameterName, 'How fast it is played: 1/4 to 64, in powers of two')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'Whether to use colour: auto is as the terminal and the environment say')
            [CompletionResult]::new('--theme', '--theme', [CompletionResultType]::ParameterName, 'The theme at the start; the key t goes to the next')
            [CompletionResult]::new('--config', '--config', [CompletionResultType]::ParameterName, 'The configuration; else the file that FANSCOPE_CONFIG names, else ~/.config/fanscope/config.toml')
            [CompletionResult]::new('--ascii', '--ascii', [CompletionResultType]::ParameterName, 'Draw with 7-bit characters only')
            [CompletionResult]::new('--no-mouse', '--no-mouse', [CompletionResultType]::ParameterName, 'Leave the mouse to the terminal')
            [CompletionResult]::new('--print-config', '--print-config', [CompletionResultType]::ParameterName, 'Print the configuration that holds, as a file that --config takes, and end')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help')
            break
        }
        'fanscope;check' {
            [CompletionResult]::new('--config', '--config', [CompletionResultType]::ParameterName, 'The configuration; else the file that FANSCOPE_CONFIG names, else ~/.config/fanscope/config.toml')
            [CompletionResult]::new('--list', '--list', [CompletionResultType]::ParameterName, 'List the built-in profiles')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help')
            break
        }
        'fanscope;report' {
            [CompletionResult]::new('--at', '--at', [CompletionResultType]::ParameterName, 'Budgets to recount, such as 50ms,100ms; by default steps up to twice the one that ran')
            [CompletionResult]::new('-k', '-k', [CompletionResultType]::ParameterName, 'Answers that are enough; by default as recorded')
            [CompletionResult]::new('--quorum', '--quorum', [CompletionResultType]::ParameterName, 'Answers that are enough; by default as recorded')
            [CompletionResult]::new('--format', '--format', [CompletionResultType]::ParameterName, 'What is printed on standard output')
            [CompletionResult]::new('--html', '--html', [CompletionResultType]::ParameterName, 'Write a page as well; nothing in it is loaded from elsewhere')
            [CompletionResult]::new('--config', '--config', [CompletionResultType]::ParameterName, 'The configuration; else the file that FANSCOPE_CONFIG names, else ~/.config/fanscope/config.toml')
            [CompletionResult]::new('--compare', '--compare', [CompletionResultType]::ParameterName, 'Set two recordings side by side, the older first')
            [CompletionResult]::new('--force', '--force', [CompletionResultType]::ParameterName, 'Let the page replace a file')
            [CompletionResult]::new('--ascii', '--ascii', [CompletionResultType]::ParameterName, 'Draw with 7-bit characters only')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            break
        }
        'fanscope;init' {
            [CompletionResult]::new('--har', '--har', [CompletionResultType]::ParameterName, 'Read a HAR; - is standard input')
            [CompletionResult]::new('--openapi', '--openapi', [CompletionResultType]::ParameterName, 'Read the description of an API (openapi 3, as JSON); - is standard input')
            [CompletionResult]::new('--server', '--server', [CompletionResultType]::ParameterName, 'The server to ask instead of the one that the description names')
            [CompletionResult]::new('-o', '-o', [CompletionResultType]::ParameterName, 'Write to a file instead of standard output')
            [CompletionResult]::new('--output', '--output', [CompletionResultType]::ParameterName, 'Write to a file instead of standard output')
            [CompletionResult]::new('--curl', '--curl', [CompletionResultType]::ParameterName, 'Read curl commands from standard input')
            [CompletionResult]::new('--force', '--force', [CompletionResultType]::ParameterName, 'Let it replace a file')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help')
            break
        }
        'fanscope;completions' {
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            break
        }
        'fanscope;man' {
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help')
            break
        }
        'fanscope;help' {
            [CompletionResult]::new('run', 'run', [CompletionResultType]::ParameterValue, 'Run rounds without a terminal and print the result')
            [CompletionResult]::new('demo', 'demo', [CompletionResultType]::ParameterValue, 'Tell the story of the budget in seven chapters, live')
            [CompletionResult]::new('replay', 'replay', [CompletionResultType]::ParameterValue, 'Show a recording on the dashboard')
            [CompletionResult]::new('check', 'check', [CompletionResultType]::ParameterValue, 'Check profiles and explain what they would do')
            [CompletionResult]::new('report', 'report', [CompletionResultType]::ParameterValue, 'Sum up recordings')
            [CompletionResult]::new('init', 'init', [CompletionResultType]::ParameterValue, 'Write a first profile: a starter, or one made of URLs, curl commands, a HAR or an API''s description')
            [CompletionResult]::new('completions', 'completions', [CompletionResultType]::ParameterValue, 'Print completions for a shell')
            [CompletionResult]::new('man', 'man', [CompletionResultType]::ParameterValue, 'Print a man page')
            [CompletionResult]::new('help', 'help', [CompletionResultType]::ParameterValue, 'Print this message or the help of the given subcommand(s)')
            break
        }
        'fanscope;help;run' {
            break
        }
        'fanscope;help;demo' {
            break
        }
        'fanscope;help;replay' {
            break
        }
        'fanscope;help;check' {
            break
        }
        'fanscope;help;report' {
            break
        }
        'fanscope;help;init' {
            break
        }
        'fanscope;help;completions' {
            break
        }
        'fanscope;help;man' {
            break
        }
        'fanscope;help;help' {
            break
        }
    })

    $completions.Where{ $_.CompletionText -like "$wordToComplete*" } |
        Sort-Object -Property ListItemText
}
