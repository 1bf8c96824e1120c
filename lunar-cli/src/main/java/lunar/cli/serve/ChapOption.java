package lunar.cli.serve;

import lunar.cli.command.Failure;

import java.util.List;
import lunar.iscsi.login.ChapAlgorithm;

/** Parses the option {@code --chap-algorithms}. */
final class ChapOption {
    static final String ALGORITHMS = "--chap-algorithms";

    private ChapOption() {}

    /** Returns the algorithms of a list such as {@code sha3-256,sha-256}. */
    static List<ChapAlgorithm> algorithms(String text) throws Failure {
        try {
            return ChapAlgorithm.parse(text);
        } catch (IllegalArgumentException e) {
            throw new Failure(ALGORITHMS + ": " + e.getMessage(), e);
        }
    }
}
