package lunar.iscsi.login;

import java.util.List;
import java.util.Optional;
import java.util.function.Function;

/**
 * How initiators prove themselves to a target.
 *
 * @param algorithms what the target accepts; the initiator's order decides among them (RFC 7143 section 12.1.3)
 * @param secrets the secret of a CHAP name; empty for an unknown name
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

    /** Returns this policy, with credentials by which the target can prove itself too. */
    public ChapPolicy withOwn(ChapCredentials credentials) {
        return new ChapPolicy(algorithms, secrets, Optional.of(credentials));
    }

    /** Returns this policy with other algorithms. */
    public ChapPolicy withAlgorithms(List<ChapAlgorithm> accepted) {
        return new ChapPolicy(accepted, secrets, own);
    }
}
