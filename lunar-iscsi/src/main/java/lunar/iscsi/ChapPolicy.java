package lunar.iscsi;

import java.util.List;
import java.util.Optional;
import java.util.function.Function;

/**
 * How initiators prove themselves to a target.
 *
 * @param algorithms what the target accepts; the initiator's order decides among them (RFC 7143 section 12.1.3)
 * @param secrets the secret of a CHAP name; empty for a name that nobody has
 * @param own what the target answers with when the initiator asks for mutual authentication; empty refuses that
 */
public record ChapPolicy(List<ChapAlgorithm> algorithms, Function<String, Optional<Secret>> secrets,
        Optional<ChapCredentials> own) {
    public ChapPolicy {
        algorithms = List.copyOf(algorithms);
        if (algorithms.isEmpty()) {
            throw new IllegalArgumentException("CHAP without an algorithm");
        }
    }

    /** Every algorithm, one user, no mutual authentication. */
    public static ChapPolicy of(ChapCredentials user) {
        return new ChapPolicy(ChapAlgorithm.DEFAULT_ORDER,
                name -> name.equals(user.name()) ? Optional.of(user.secret()) : Optional.empty(),
                Optional.empty());
    }

    /** The same, where the target can prove itself too. */
    public ChapPolicy withOwn(ChapCredentials credentials) {
        return new ChapPolicy(algorithms, secrets, Optional.of(credentials));
    }

    /** The same with other algorithms. */
    public ChapPolicy withAlgorithms(List<ChapAlgorithm> accepted) {
        return new ChapPolicy(accepted, secrets, own);
    }
}
