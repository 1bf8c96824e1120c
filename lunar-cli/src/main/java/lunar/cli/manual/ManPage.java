package lunar.cli.manual;

import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.stream.Collectors;
import picocli.CommandLine;
import picocli.CommandLine.Help;
import picocli.CommandLine.Model.ArgSpec;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.OptionSpec;
import picocli.CommandLine.Model.PositionalParamSpec;

/** The manual page of a command, in the macros of man(7). The text is what {@code --help} prints. */
final class ManPage {
    private final CommandSpec command;
    private final StringBuilder page = new StringBuilder();

    ManPage(CommandSpec command) { this.command = command; }

    /** Returns a page's name, such as {@code lunar-raid-create}. */
    static String name(CommandSpec command) {
        return command.qualifiedName("-");
    }

    /** Returns the page. */
    String text() {
        page.append(".TH \"").append(name(command).toUpperCase(Locale.ROOT))
                .append("\" 1 \"\" \"Lunar\" \"Lunar Manual\"\n");
        List<String> description = lines(command.usageMessage().description());
        section("NAME");
        page.append(escape(name(command))).append(" \\- ")
                .append(escape(firstSentence(String.join(" ", description)))).append('\n');
        section("SYNOPSIS");
        page.append(".nf\n").append(escape(synopsis())).append("\n.fi\n");
        section("DESCRIPTION");
        description.stream().filter(line -> !line.isBlank()).forEach(this::paragraph);
        arguments();
        options();
        subcommands();
        footer();
        section("EXIT STATUS");
        item("0", List.of("Success."));
        item("1", List.of("The command failed; one line on standard error says why."));
        item("2", List.of("The command line is wrong."));
        if (command.parent() != null) {
            section("SEE ALSO");
            page.append(".BR ").append(escape(name(command.parent()))).append(" (1)\n");
        }
        return page.toString();
    }

    private String synopsis() {
        var help = new Help(command, Help.defaultColorScheme(Help.Ansi.OFF));
        return help.synopsis(0).strip();
    }

    private void arguments() {
        List<PositionalParamSpec> all = command.positionalParameters().stream()
                .filter(argument -> !argument.hidden()).toList();
        if (!all.isEmpty()) {
            section("ARGUMENTS");
            all.forEach(argument -> item(argument.paramLabel(), lines(argument.description())));
        }
    }

    private void options() {
        List<OptionSpec> all = command.options().stream().filter(option -> !option.hidden())
                .toList();
        if (!all.isEmpty()) {
            section("OPTIONS");
            all.forEach(option -> item(String.join(", ", option.names()) + value(option),
                    lines(option.description())));
        }
    }

    private static String value(ArgSpec option) {
        return option.arity().max() == 0 ? "" : "=" + option.paramLabel();
    }

    private void subcommands() {
        List<CommandLine> all = command.subcommands().values().stream()
                .filter(sub -> !sub.getCommandSpec().usageMessage().hidden()).toList();
        if (!all.isEmpty()) {
            section("COMMANDS");
            all.forEach(sub -> item(name(sub.getCommandSpec()) + "(1)",
                    lines(sub.getCommandSpec().usageMessage().description())));
        }
    }

    /** Adds examples and tables, line by line; a line that ends with a colon and is not indented is a heading. */
    private void footer() {
        boolean asIs = false;
        for (String line : lines(command.usageMessage().footer())) {
            boolean heading = line.endsWith(":") && !line.startsWith(" ");
            if (heading || line.isBlank()) {
                if (asIs) {
                    page.append(".fi\n");
                    asIs = false;
                }
                if (heading) {
                    section(line.substring(0, line.length() - 1).toUpperCase(Locale.ROOT));
                }
            } else if (line.startsWith(" ")) {
                if (!asIs) {
                    page.append(".nf\n");
                    asIs = true;
                }
                page.append(escape(line)).append('\n');
            } else {
                paragraph(line);
            }
        }
        if (asIs) {
            page.append(".fi\n");
        }
    }

    private void section(String title) {
        page.append(".SH \"").append(escape(title)).append("\"\n");
    }

    private void paragraph(String text) { page.append(".PP\n").append(escape(text)).append('\n'); }

    private void item(String tag, List<String> text) {
        page.append(".TP\n.B ").append(escape(tag)).append('\n');
        text.forEach(line -> page.append(escape(line)).append('\n'));
    }

    /** Returns lines with the escapes of picocli's format resolved. */
    private static List<String> lines(String[] raw) {
        return Arrays.stream(raw)
                .flatMap(line -> line.replace("%n", "\n").replace("%%", "%").lines())
                .collect(Collectors.toList());
    }

    private static String firstSentence(String text) {
        int end = text.indexOf(". ");
        return end < 0 ? text.replaceFirst("\\.$", "") : text.substring(0, end);
    }

    /** Escapes text for roff: no line is taken for a request, and hyphens stay hyphens that can be copied. */
    static String escape(String text) {
        return text.replace("\\", "\\e").replace("-", "\\-").lines()
                .map(line -> line.startsWith(".") || line.startsWith("'") ? "\\&" + line : line)
                .collect(Collectors.joining("\n"));
    }
}
