package lunar.iscsi.login;

import java.util.List;
import java.util.Optional;
import java.util.function.Function;

/**
 * CHAP authentication of initiators at a target.
 *
 * @param algorithms accepted algorithms; the initiator's order of preference decides (RFC 7143 section 12.1.3)
 * @param secrets returns the secret of a CHAP name; empty for an unknown name
 * @param own credentials of the target for mutual authentication; empty rejects mutual authentication
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
