package lunar.server;

import java.io.IOException;
import java.util.ArrayList;
import java.util.HashMap;
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
import lunar.scsi.target.UnitSpec;
import lunar.target.InitiatorSpec;
import lunar.target.TargetSpec;

/** Converts the targets of a plan to target specs: opens their devices, and reads the secrets of their users. */
final class TargetAssembly {
    /** A LUN and its device. */
    record Placed(String iqn, int lun, String uri, ServedSource source) {}

    private final ServedDevices.Round devices;
    private final CredentialFiles credentials;
    private final Map<String, Secret> users = new LinkedHashMap<>();
    private final SortedSet<String> twoSecrets = new TreeSet<>();
    private final Map<ServedSource, ServerPlan.Lun> described = new HashMap<>();
    private final List<Placed> placed = new ArrayList<>();

    TargetAssembly(ServedDevices.Round devices, ServerListener listener) {
        this.devices = devices;
        credentials = new CredentialFiles(listener);
    }

    /** All LUNs so far. */
    List<Placed> placed() { return placed; }

    /** @param exposed whether other machines can reach the target */
    TargetSpec spec(ServerPlan.Target target, boolean exposed)
            throws IOException, InvalidPlanException {
        String what = "target " + target.iqn();
        TargetSpec spec = TargetSpec.of(target.iqn()).withAlias(target.alias())
                .withGroups(target.groups());
        Optional<ChapPolicy> chap = policy(what, target.chap(), target.mutualChap(),
                target.chapAlgorithms(), exposed);
        if (chap.isPresent()) {
            spec = spec.withChap(chap.get());
        }
        for (var lun : target.luns().entrySet()) {
            spec = spec.withLun(lun.getKey(), unit(target.iqn(), lun.getKey(), lun.getValue()));
        }
        for (ServerPlan.Initiator initiator : target.initiators()) {
            spec = spec.withInitiator(initiator(what, initiator, target.chapAlgorithms(),
                    exposed));
        }
        if (target.absence().isPresent()) {
            spec = spec.withAbsence(target.absence().get());
        }
        for (var state : target.access().entrySet()) {
            spec = spec.withState(state.getKey(), state.getValue());
        }
        return spec;
    }

    private UnitSpec unit(String iqn, int number, ServerPlan.Lun lun)
            throws IOException, InvalidPlanException {
        ServedDevices.Open open = devices.device(iqn, number, lun.uri());
        ServerPlan.Lun first = described.putIfAbsent(open.source(), lun);
        if (first != null && !first.equals(lun)) {
            throw new InvalidPlanException(
                    open.name() + " is one unit at several LUNs, and must be configured"
                            + " identically at each: LUN " + number + " of " + iqn + " differs");
        }
        placed.add(new Placed(iqn, number, lun.uri(), open.source()));
        return open.source().spec(lun, open.state());
    }

    private InitiatorSpec initiator(String target, ServerPlan.Initiator planned,
            List<ChapAlgorithm> algorithms, boolean exposed) throws InvalidPlanException {
        InitiatorSpec spec = InitiatorSpec.of(planned.name()).withReadOnly(planned.readOnly());
        if (planned.luns().isPresent()) {
            spec = spec.withLuns(planned.luns().get());
        }
        Optional<ChapPolicy> chap = policy("initiator " + planned.name() + " of " + target,
                planned.chap(), planned.mutualChap(), algorithms, exposed);
        return chap.isEmpty() ? spec : spec.withChap(chap.get());
    }

    private Optional<ChapPolicy> policy(String whose, Optional<String> chap,
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
    Optional<ChapPolicy> discoveryChap(Optional<String> own, List<ChapAlgorithm> algorithms,
            boolean exposed) throws InvalidPlanException {
        if (own.isPresent()) {
            return policy("discovery", own, Optional.empty(), algorithms, exposed);
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
