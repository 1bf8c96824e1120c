package lunar.cli.demo;

import lunar.cli.bench.Figures;
import lunar.cli.command.Console;
import lunar.cli.command.DeviceCommand;
import lunar.cli.command.Errors;
import lunar.cli.command.Failure;

import java.io.IOException;
import java.util.Locale;
import picocli.CommandLine.Command;

/** {@code lunar demo}: all that matters, on the loopback, in half a minute. */
@Command(name = "demo",
        description = "Demonstrate Lunar in about 20 seconds: two targets on the loopback, "
                + "discovery, CHAP, digests, verified I/O, copy and speed. The exit status is 0 "
                + "only if every step succeeds.",
        footer = {
                "", "Example:", "  lunar demo"})
public final class DemoCommand extends DeviceCommand {
    private static final String GREEN = "\u001b[32m";
    private static final String RED = "\u001b[31m";
    private static final String PLAIN = "\u001b[0m";

    public DemoCommand(Console console) { super(console); }

    @Override
    protected int execute() throws Exception {
        logErrorsOnly(); // refused logins are part of the show
        long startNs = System.nanoTime();
        boolean held;
        try (var lab = new DemoLab(console())) {
            var steps = new DemoSteps(lab);
            try {
                held = run(steps);
                if (held) {
                    table(steps);
                }
            } finally {
                steps.close();
            }
        }
        String time = String.format(Locale.ROOT, "%.0f s", (System.nanoTime() - startNs) / 1e9);
        console().out().println(held
                ? "all steps succeeded in " + time
                : "the demo failed after " + time + "; --verbose shows more");
        return held ? 0 : 1;
    }

    private boolean run(DemoSteps steps) throws InterruptedException {
        for (DemoSteps.Step step : steps.all()) {
            long startNs = System.nanoTime();
            try {
                String figures = step.work().run();
                line(GREEN, "✓", step.title(), figures, startNs);
            } catch (IOException | Failure | RuntimeException e) {
                line(RED, "✗", step.title(), Errors.message(e), startNs);
                if (isVerbose()) {
                    e.printStackTrace(console().err());
                }
                return false;
            }
        }
        return true;
    }

    private void line(String colour, String mark, String title, String figures, long startNs) {
        boolean terminal = console().isTerminal();
        console().out().println(String.format(Locale.ROOT, "%s%s%s %-48s %5.1f s  %s",
                terminal ? colour : "", mark, terminal ? PLAIN : "", title,
                (System.nanoTime() - startNs) / 1e9, figures));
    }

    private void table(DemoSteps steps) {
        console().out().println();
        console().out().println(Figures.heading().replace("device", "what"));
        steps.measured().forEach(figures -> console().out().println(figures.line()));
        console().out().println();
    }
}
