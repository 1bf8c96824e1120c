package lunar.cli.command;

import java.io.IOException;
import java.io.PrintWriter;
import java.net.ConnectException;
import java.util.List;
import lunar.block.NoSpaceException;
import lunar.cli.log.StandardError;
import picocli.CommandLine;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.ParseResult;

/** Maps the failure of a command to one line and an exit status. */
public final class Errors {
    private static final int FAILED = 1;
    private static final int WRONG_USAGE = 2;

    private Errors() {}

    public static int wrongUsage(ParameterException e, String[] args) {
        PrintWriter err = e.getCommandLine().getErr();
        String help = e.getCommandLine().getCommandSpec().qualifiedName() + " --help";
        String message = oneLine(String.valueOf(e.getMessage()));
        err.println("lunar: " + message + suggestion(e)
                + (message.contains("--help") ? "" : "; see '" + help + "'"));
        return WRONG_USAGE;
    }

    private static String suggestion(ParameterException e) {
        if (!(e instanceof CommandLine.UnmatchedArgumentException unmatched)) {
            return "";
        }
        List<String> alike = unmatched.getSuggestions();
        return alike.isEmpty() ? "" : "; did you mean " + String.join(" or ", alike) + "?";
    }

    public static int failed(Exception e, CommandLine line, ParseResult parsed) {
        PrintWriter err = line.getErr();
        err.println(StandardError.now().errorPrefix() + "lunar: " + message(e));
        if (line.getCommand() instanceof DeviceCommand command && command.isVerbose()) {
            e.printStackTrace(err);
        }
        return e instanceof Failure failure ? failure.status() : FAILED;
    }

    /** Returns one line for a person. */
    public static String message(Throwable e) {
        String message = e.getMessage();
        if (message == null || message.isBlank()) {
            return "unexpected " + e + "; --verbose shows the cause";
        }
        boolean forPeople = e instanceof Failure || e instanceof IOException
                || e instanceof IllegalArgumentException;
        return oneLine(forPeople
                ? message + advice(e)
                : "unexpected " + e + "; --verbose shows the cause");
    }

    /** Returns advice for errors where only the command line knows it. */
    private static String advice(Throwable e) {
        if (causedBy(e, ConnectException.class)) {
            return "; check the address, and that a target listens there";
        }
        return causedBy(e, NoSpaceException.class)
                ? "; free some space, or choose another location"
                : "";
    }

    private static boolean causedBy(Throwable e, Class<? extends Throwable> type) {
        for (Throwable cause = e; cause != null; cause = cause.getCause()) {
            if (type.isInstance(cause)) {
                return true;
            }
        }
        return false;
    }

    private static String oneLine(String text) {
        return text.strip().replaceAll("\\s*\\R\\s*", "; ");
    }
}
