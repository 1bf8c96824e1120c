package lunar.server;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.SortedSet;
import java.util.TreeSet;
import lunar.iscsi.login.ChapAlgorithm;
import lunar.iscsi.login.ChapCredentials;
import lunar.iscsi.login.ChapPolicy;
import lunar.iscsi.login.Secret;

/** Reads the secrets of a plan's users, and makes the CHAP policies of targets, initiators and discovery. */
final class ChapPolicies {
    private final CredentialFiles credentials;
    private final Map<String, Secret> users = new LinkedHashMap<>();
    private final SortedSet<String> twoSecrets = new TreeSet<>();

    ChapPolicies(ServerListener listener) { credentials = new CredentialFiles(listener); }

    /**
     * Returns the CHAP policy of a target or initiator; empty if it needs no authentication.
     *
     * @param whose purpose, for messages
     * @param exposed whether other machines can reach the target
     */
    Optional<ChapPolicy> of(String whose, Optional<String> chap,
            Optional<String> mutual, List<ChapAlgorithm> algorithms, boolean exposed)
            throws InvalidPlanException {
        if (chap.isEmpty()) {
            if (mutual.isPresent()) {
                throw new InvalidPlanException(
                        whose + " has mutual-chap without chap: mutual CHAP"
                                + " authenticates both ends; add chap");
            }
            return Optional.empty();
        }
        ChapCredentials user = credentials.read("chap of " + whose, chap.get(), exposed);
        Secret known = users.putIfAbsent(user.name(), user.secret());
        if (known != null && !known.equals(user.secret())) {
            twoSecrets.add(user.name());
        }
        Optional<ChapCredentials> own = Optional.empty();
        if (mutual.isPresent()) {
            own = Optional.of(credentials.read("mutual-chap of " + whose, mutual.get(),
                    exposed));
            if (own.get().secret().equals(user.secret())) {
                throw new InvalidPlanException("chap and mutual-chap of " + whose
                        + " have the same secret,"
                        + " which RFC 7143 forbids; change one of them");
            }
        }
        requireAvailable(whose, algorithms);
        return Optional.of(policy(Map.of(user.name(), user.secret()), own, algorithms));
    }

    private static void requireAvailable(String whose, List<ChapAlgorithm> algorithms)
            throws InvalidPlanException {
        if (algorithms.stream().noneMatch(ChapAlgorithm::isAvailable)) {
            throw new InvalidPlanException(
                    whose + " accepts only CHAP algorithms that this Java does not provide: "
                            + String.join(", ",
                                    algorithms.stream().map(ChapAlgorithm::text).toList())
                            + "; specify others in chap-algorithms");
        }
    }

    /**
     * Returns the CHAP policy of discovery, after all targets have been converted.
     *
     * @param own {@code USER:@FILE}, credentials of discovery, if configured
     * @param exposed whether discovery without its own secret requires that of a user of some target; if no target
     *        requires a secret, discovery does not either
     */
    Optional<ChapPolicy> discovery(Optional<String> own, List<ChapAlgorithm> algorithms,
            boolean exposed) throws InvalidPlanException {
        if (own.isPresent()) {
            return of("discovery", own, Optional.empty(), algorithms, exposed);
        }
        if (!exposed || users.isEmpty()) {
            return Optional.empty();
        }
        if (!twoSecrets.isEmpty()) {
            throw new InvalidPlanException(
                    "CHAP user " + twoSecrets.first() + " has several secrets, and"
                            + " discovery cannot tell which one applies; use different user names, or"
                            + " a separate secret for discovery with discovery-chap");
        }
        requireAvailable("discovery", algorithms);
        var enough = new LinkedHashMap<>(users); // short ones are of targets on the loopback
        enough.values().removeIf(Secret::isShort);
        return Optional.of(policy(enough, Optional.empty(), algorithms));
    }

    private static ChapPolicy policy(Map<String, Secret> users, Optional<ChapCredentials> own,
            List<ChapAlgorithm> algorithms) {
        Map<String, Secret> known = Map.copyOf(users);
        return new ChapPolicy(algorithms,
                name -> Optional.ofNullable(known.get(name)), own);
    }
}
