package lunar.server;

import java.io.IOException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import lunar.iscsi.login.ChapAlgorithm;
import lunar.iscsi.login.ChapPolicy;
import lunar.scsi.target.UnitSpec;
import lunar.target.InitiatorSpec;
import lunar.target.TargetSpec;

/** Converts the targets of a plan to target specs: opens their devices, and reads the secrets of their users. */
final class TargetAssembly {
    /** A LUN of the plan and its device. */
    record Placed(String iqn, int lun, ServerPlan.Lun planned, ServedSource source) {
        String uri() { return planned.uri(); }
    }

    private final ServedDevices.Round devices;
    private final ChapPolicies policies;
    private final Map<ServedSource, ServerPlan.Lun> described = new HashMap<>();
    private final List<Placed> placed = new ArrayList<>();

    TargetAssembly(ServedDevices.Round devices, ServerListener listener) {
        this.devices = devices;
        policies = new ChapPolicies(listener);
    }

    /** All LUNs so far. */
    List<Placed> placed() { return placed; }

    /** @param exposed whether other machines can reach the target */
    TargetSpec spec(ServerPlan.Target target, boolean exposed)
            throws IOException, InvalidPlanException {
        String what = "target " + target.iqn();
        TargetSpec spec = TargetSpec.of(target.iqn()).withAlias(target.alias())
                .withGroups(target.groups());
        Optional<ChapPolicy> chap = policies.of(what, target.chap(), target.mutualChap(),
                target.chapAlgorithms(), exposed);
        if (chap.isPresent()) {
            spec = spec.withChap(chap.get());
        }
        for (var lun : target.luns().entrySet()) {
            spec = spec.withLun(lun.getKey(), unit(target.iqn(), lun.getKey(), lun.getValue()));
            if (lun.getValue().limit().isPresent()) {
                spec = spec.withLimit(lun.getKey(), lun.getValue().limit().get());
            }
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
        placed.add(new Placed(iqn, number, lun, open.source()));
        return open.source().spec(lun, open.state());
    }

    private InitiatorSpec initiator(String target, ServerPlan.Initiator planned,
            List<ChapAlgorithm> algorithms, boolean exposed) throws InvalidPlanException {
        InitiatorSpec spec = InitiatorSpec.of(planned.name()).withReadOnly(planned.readOnly());
        if (planned.luns().isPresent()) {
            spec = spec.withLuns(planned.luns().get());
        }
        if (planned.limit().isPresent()) {
            spec = spec.withLimit(planned.limit().get());
        }
        Optional<ChapPolicy> chap = policies.of("initiator " + planned.name() + " of " + target,
                planned.chap(), planned.mutualChap(), algorithms, exposed);
        return chap.isEmpty() ? spec : spec.withChap(chap.get());
    }

    /**
     * Returns the CHAP policy of discovery, after all targets have been converted.
     *
     * @param own {@code USER:@FILE}, credentials of discovery, if configured
     * @param exposed whether discovery without its own secret requires that of a user of some target
     */
    Optional<ChapPolicy> discoveryChap(Optional<String> own, List<ChapAlgorithm> algorithms,
            boolean exposed) throws InvalidPlanException {
        return policies.discovery(own, algorithms, exposed);
    }
}
