package lunar.cli;

import lunar.cli.command.Console;
import picocli.AutoComplete;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Spec;

/** {@code lunar completion}: words that a shell completes. */
@Command(name = "completion", mixinStandardHelpOptions = true,
        description = "Print a script with which bash and zsh complete commands and options.",
        footer = {
                "", "Example:",
                "  lunar completion | sudo tee /etc/bash_completion.d/lunar >/dev/null"})
final class CompletionCommand implements Runnable {
    private final Console console;

    @Spec
    private CommandSpec spec = CommandSpec.create();

    CompletionCommand(Console console) { this.console = console; }

    @Override
    public void run() {
        console.out().print(AutoComplete.bash("lunar", spec.root().commandLine()));
        console.out().flush();
    }
}
