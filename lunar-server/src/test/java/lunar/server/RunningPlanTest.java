package lunar.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.SortedMap;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Tests changes of LUNs on plans. */
class RunningPlanTest {
    private static final String IQN = "iqn.2026-11.org.lunar:plan";
    private static final String A = "file:/a.img?size=1MiB";
    private static final String B = "file:/b.img?size=1MiB";
    private static final String C = "file:/c.img?size=1MiB";

    private static ServerPlan plan(String... uris) {
        return ServerPlan.of(List.of(ServerPlan.Listen.on("127.0.0.1", 0)),
                List.of(ServerPlan.Target.of(IQN, List.of(uris))));
    }

    private static ServerPlan plan(Map<Integer, ServerPlan.Lun> luns) {
        return plan().withTargets(List.of(ServerPlan.Target.of(IQN, new TreeMap<>(luns))));
    }

    private static LunRequest add(String uri, int... lun) {
        return new LunRequest.Add(IQN, lun.length == 0
                ? OptionalInt.empty()
                : OptionalInt.of(lun[0]), ServerPlan.Lun.of(uri));
    }

    private static LunRequest remove(int lun) { return new LunRequest.Remove(IQN, lun); }

    private static LunRequest resize(int lun, long bytes) {
        return new LunRequest.Resize(IQN, lun, bytes);
    }

    private static RunningPlan with(ServerPlan configured, LunRequest... requests)
            throws InvalidPlanException {
        RunningPlan plan = RunningPlan.of(configured);
        for (LunRequest request : requests) {
            plan = plan.with(request, plan.lun(request));
        }
        return plan;
    }

    private static String served(RunningPlan plan) { return served(plan.plan()); }

    private static String served(ServerPlan plan) {
        SortedMap<Integer, ServerPlan.Lun> luns = plan.targets().getFirst().luns();
        return String.join(" ", luns.entrySet().stream()
                .map(one -> one.getKey() + "=" + one.getValue().uri()).toList());
    }

    @Test
    void shouldApplyChangesAndKeepThemOverAnUnrelatedReload() throws Exception {
        RunningPlan plan = with(plan(A, B), add(C), remove(0), resize(1, 3 << 19));
        String expected = "1=file:/b.img?size=1536KiB 2=" + C;
        assertThat(served(plan)).isEqualTo(expected);
        assertThat(plan.configured()).isEqualTo(plan(A, B));
        assertThat(plan.changes()).extracting(LunChange::kind).containsExactlyInAnyOrder(
                LunChange.Kind.ADDED, LunChange.Kind.REMOVED, LunChange.Kind.RESIZED);
        RunningPlan again = plan.reconfigured(plan(A, B).withAllowAnonymous(true));
        assertThat(served(again)).isEqualTo(expected);
        assertThat(again.configured().allowAnonymous()).isTrue();
        assertThat(again.plan().allowAnonymous()).isTrue();
    }

    @Test
    void shouldDropChangesThatTheConfigurationContains() throws Exception {
        RunningPlan plan = with(plan(A, B), add(C), remove(0), resize(1, 2 << 20));
        ServerPlan file = plan(Map.of(1, ServerPlan.Lun.of("file:/b.img?size=2MiB"), 2,
                ServerPlan.Lun.of("file:/c.img?size=1MiB")));
        RunningPlan caughtUp = plan.reconfigured(file);
        assertThat(caughtUp.changes()).isEmpty();
        assertThat(caughtUp.plan()).isEqualTo(file);
        RunningPlan partly = plan.reconfigured(plan(Map.of(1, ServerPlan.Lun.of(B))));
        assertThat(partly.changes()).extracting(LunChange::kind).containsExactlyInAnyOrder(
                LunChange.Kind.ADDED, LunChange.Kind.RESIZED);
    }

    @Test
    void shouldForgetChangesThatAreUndone() throws Exception {
        assertThat(with(plan(A), add(B), remove(1)).changes()).isEmpty();
        assertThat(with(plan(A, B), remove(1), add(B, 1)).changes()).isEmpty();
        assertThat(with(plan("file:/a.img?size=1048576"), resize(0, 1 << 20)).changes())
                .as("a size that is written in another way").isEmpty();
        RunningPlan grown = with(plan(A), add(B), resize(1, 2 << 20));
        assertThat(grown.changes()).singleElement()
                .hasToString("LUN 1 of " + IQN + " was added: file:/b.img?size=2MiB");
    }

    @Test
    void shouldNumberLunsAfterTheLastOne() throws Exception {
        assertThat(served(with(plan(), add(A), add(B)))).isEqualTo("0=" + A + " 1=" + B);
        assertThat(served(with(plan(A, B), remove(1), add(C))))
                .as("the number of the removed one is not reused").isEqualTo("0=" + A + " 2=" + C);
        assertThat(served(with(plan(A), add(B, 16383)))).endsWith("16383=" + B);
        assertThatThrownBy(() -> with(plan(A), add(B, 16384)))
                .hasMessageContaining("LUN must be 0 to 16383");
    }

    private static int next(RunningPlan plan) throws InvalidPlanException {
        return plan.lun(add(C));
    }

    @Test
    void shouldNotReuseTheNumberOfARemovedLunByItself() throws Exception {
        RunningPlan removed = with(plan(A), add(B, 7), remove(7));
        assertThat(removed.changes()).isEmpty();
        assertThat(next(removed)).isEqualTo(8);
        assertThat(next(removed.settled())).isEqualTo(8);
        assertThat(served(removed.with(add(C, 7), 7))).as("a number that the request names")
                .isEqualTo("0=" + A + " 7=" + C);
        assertThat(next(removed.with(add(C, 3), 3))).as("after a lower one").isEqualTo(8);
    }

    @Test
    void shouldNotReuseNumbersOfBeforeAReload() throws Exception {
        RunningPlan removed = with(plan(A), add(B, 7), remove(7));
        assertThat(next(removed.reconfigured(plan(A)))).isEqualTo(8);
        assertThat(next(removed.discarding(plan(A)))).isEqualTo(8);
        assertThat(next(with(plan(A), add(B, 7)).discarding(plan(A)))).isEqualTo(8);
        RunningPlan configured = RunningPlan.of(plan(Map.of(5, ServerPlan.Lun.of(A))));
        assertThat(next(configured.reconfigured(plan(A)))).isEqualTo(6);
        ServerPlan higher = plan(Map.of(9, ServerPlan.Lun.of(A)));
        assertThat(next(configured.reconfigured(higher).reconfigured(plan(A)))).isEqualTo(10);
    }

    @Test
    void shouldNotReuseNumbersOfATargetThatReturns() throws Exception {
        String other = "iqn.2026-11.org.lunar:other";
        ServerPlan without = plan()
                .withTargets(List.of(ServerPlan.Target.of(other, List.of(C))));
        RunningPlan returned = with(plan(A), add(B, 7), remove(7)).reconfigured(without)
                .reconfigured(plan());
        assertThat(next(returned)).isEqualTo(8);
        assertThat(returned.lun(new LunRequest.Add(IQN.replace("org", "ORG"),
                OptionalInt.empty(), ServerPlan.Lun.of(B)))).isEqualTo(8);
        ServerPlan upper = plan().withTargets(List.of(ServerPlan.Target
                .of(IQN.replace("org", "ORG"), List.of(A))));
        assertThat(next(returned.reconfigured(upper))).isEqualTo(8);
        RunningPlan both = RunningPlan.of(without).reconfigured(plan());
        assertThat(next(both)).as("numbers of another target").isZero();
    }

    @Test
    void shouldAskForANumberOnceTheLastOneWasServed() throws Exception {
        for (RunningPlan plan : List.of(with(plan(A), add(B, 16383)),
                with(plan(A), add(B, 16383), remove(16383)))) {
            assertThatThrownBy(() -> next(plan)).isInstanceOf(InvalidPlanException.class)
                    .hasMessage(IQN + " has served LUN 16383, the last one, since the server"
                            + " started; specify a free LUN that no host still uses");
            assertThat(served(plan.with(add(C, 1), 1))).contains(" 1=" + C);
        }
    }

    @ParameterizedTest
    @CsvSource({"file:/x.img, now has file:/x.img there", "ram:1MiB, now has ram:1MiB there"})
    void shouldRefuseAContradiction(String other, String words) throws Exception {
        RunningPlan added = with(plan(A), add(B));
        assertThatThrownBy(() -> added.reconfigured(plan(A, other)))
                .isInstanceOf(ContradictedChangeException.class)
                .hasMessageContaining("LUN 1 of " + IQN + " was added: " + B)
                .hasMessageContaining(words);
        RunningPlan removed = with(plan(A, B), remove(1));
        assertThatThrownBy(() -> removed.reconfigured(plan(A, other)))
                .isInstanceOf(ContradictedChangeException.class).hasMessageContaining(words);
        RunningPlan resized = with(plan(A, B), resize(1, 2 << 20));
        assertThatThrownBy(() -> resized.reconfigured(plan(A, other)))
                .isInstanceOf(ContradictedChangeException.class).hasMessageContaining(words);
        RunningPlan replaced = with(plan(A, B), remove(1), add(C, 1));
        assertThatThrownBy(() -> replaced.reconfigured(plan(A, other)))
                .isInstanceOf(ContradictedChangeException.class).hasMessageContaining(words);
    }

    @Test
    void shouldRefuseThatTheTargetOfAnAddedLunIsGone() throws Exception {
        ServerPlan without = plan().withTargets(List.of(ServerPlan.Target
                .of("iqn.2026-11.org.lunar:other", List.of(C))));
        assertThatThrownBy(() -> with(plan(A), add(B)).reconfigured(without))
                .isInstanceOf(ContradictedChangeException.class)
                .hasMessageContaining("no longer has this target");
        assertThat(with(plan(A, B), remove(1), resize(0, 2 << 20)).reconfigured(without)
                .changes()).as("nothing is left to remove or to resize").isEmpty();
    }

    @Test
    void shouldResizeADeviceAtAllOfItsLuns() throws Exception {
        assertThat(served(with(plan(A, B, A), resize(2, 2 << 20)))).isEqualTo(
                "0=file:/a.img?size=2MiB 1=" + B + " 2=file:/a.img?size=2MiB");
        assertThat(served(with(plan("ram:1MiB", "ram:1MiB"), resize(1, 2 << 20))))
                .as("memory is a device for each LUN").isEqualTo("0=ram:1MiB 1=ram:2MiB");
    }

    @Test
    void shouldKeepTheOtherPartsOfAResizedUri() throws Exception {
        assertThat(SizedUri.of("encrypt=k:file:/a?io=sync&size=1MiB&create=true", 1 << 30))
                .contains("encrypt=k:file:/a?io=sync&size=1GiB&create=true");
        assertThat(SizedUri.of("file:/a?io=sync", 512)).contains("file:/a?io=sync&size=512");
        assertThat(SizedUri.of("file:/size=1/a", 1024)).contains("file:/size=1/a?size=1KiB");
        assertThat(SizedUri.of("trace:ram:1MiB?block=4096", 5 << 20))
                .contains("trace:ram:5MiB?block=4096");
        assertThat(SizedUri.of("disk:/dev/sdb", 512)).isEmpty();
        assertThatThrownBy(() -> with(plan("disk:/dev/sdb"), resize(0, 512)))
                .hasMessageContaining("resize the device itself");
        assertThatThrownBy(() -> with(plan(A), resize(0, 1000)))
                .hasMessageContaining("multiple of 512");
    }

    @Test
    void shouldKeepNoResizeThatTheNextStartDoesNotUndo() throws Exception {
        assertThat(with(plan("file:/a.img"), resize(0, 2 << 20)).settled().changes()).isEmpty();
        assertThat(with(plan(A), resize(0, 2 << 20)).settled().changes()).hasSize(1);
    }

    @Test
    void shouldTakeARemovedLunFromTheTablesOfInitiators() throws Exception {
        var host = new ServerPlan.Initiator("iqn.2026-11.org.lunar:host", Optional.empty(),
                Optional.empty(), Optional.of(new TreeMap<>(Map.of(0, 1, 5, 0))), false,
                Optional.empty());
        ServerPlan.Target target = ServerPlan.Target.of(IQN, List.of(A, B));
        ServerPlan configured = plan().withTargets(
                List.of(target.withLuns(target.luns(), List.of(host))));
        RunningPlan removed = with(configured, remove(1));
        assertThat(removed.plan().targets().getFirst().initiators().getFirst().luns())
                .contains(new TreeMap<>(Map.of(5, 0)));
        RunningPlan back = removed.with(add(C, 1), 1);
        assertThat(back.plan().targets().getFirst().initiators()).containsExactly(host);
    }

    @Test
    void shouldNameWhatIsNotServed() {
        assertThatThrownBy(() -> with(plan(A), new LunRequest.Remove(IQN + "2", 0)))
                .isInstanceOf(NotServedException.class).hasMessageContaining(IQN + "2");
        assertThatThrownBy(() -> with(plan(A), remove(1))).isInstanceOf(NotServedException.class)
                .hasMessageContaining("has no LUN 1");
        assertThatThrownBy(() -> with(plan(A), add(B, 0))).hasMessageContaining("is file:/a.img");
    }

    @Test
    void shouldShowNoSecret() throws Exception {
        String uri = "iscsi://user%25geheim@192.0.2.1/" + IQN + "/0";
        RunningPlan plan = with(plan(A), add(uri));
        assertThat(plan.changes().getFirst().toString()).doesNotContain("geheim");
        assertThatThrownBy(() -> plan.reconfigured(plan(A, uri.replace("/0", "/1"))))
                .isInstanceOf(ContradictedChangeException.class).message()
                .doesNotContain("geheim");
    }
}
