package lunar.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.file.Files;
import lunar.block.BlockDevice;
import lunar.block.Devices;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import tools.jackson.databind.JsonNode;

/** Tests the commands that change the LUNs of a running server, and drain it, with a server and an initiator. */
@Timeout(600)
class ChangeCommandTest extends AdminCommandFixture {
    private static final String IQN = "iqn.2026-11.org.example:change";

    ChangeCommandTest() { super(IQN); }

    private String file(String name, String size) {
        return "file:" + folder.resolve(name) + "?size=" + size;
    }

    private static void use(BlockDevice disk) throws IOException {
        disk.write(0, MemorySegment.ofArray(new byte[512]));
    }

    @Test
    void shouldAddAndRemoveALun() throws Exception {
        String added = file("b", "2MiB");
        try (var serving = new CommandRun.Serving(1, "serve", "--config",
                config("ram:1MiB").toString());
                BlockDevice first = Devices.open(serving.uri(0))) {
            use(first);
            assertThat(run("lun", "add", IQN, added).succeeds().out()).isEqualTo("serving " + IQN
                    + " lun 1 " + added + " 2MiB on " + serving.portal() + "\n");
            assertThat(json("lun", "add", IQN, "ram:1MiB", "--lun", "7", "--read-only").path("lun")
                    .asInt()).isEqualTo(7);
            assertThat(json("luns").path("luns").path(2).path("readOnly").asBoolean()).isTrue();
            run("lun", "add", IQN, "ram:1MiB", "--lun", "7").fails(1, "choose another LUN");
            run("lun", "add", IQN, "nothing").fails(1, "is not a device URI");
            run("lun", "add", IQN, "raid5:vol").fails(1, "raid5:vol is not in the config file");
            run("lun", "add", IQN + "2", "ram:1MiB").fails(1, IQN + "2 is served",
                    "'lunar luns'");
            try (BlockDevice second = Devices.open(serving.uri(1))) {
                assertThat(run("reload").succeeds().out()).contains("nothing that is served");
                use(second);
                use(first);
            }
            String note = "temporary: LUN 1 of " + IQN + " was added: " + added;
            assertThat(run("luns").succeeds().out()).contains(note);
            assertThat(run("status").succeeds().out()).contains(note, "1 with 3 LUNs");
            assertThat(run("lun", "remove", IQN, "7").succeeds().out())
                    .startsWith("no longer serving " + IQN + " lun 7 ram:1MiB\n");
            run("lun", "remove", IQN, "7").fails(1, "has no LUN 7", "'lunar luns'");
            config("ram:1MiB", added);
            run("reload").succeeds();
            assertThat(json("luns").path("temporaryChanges")).isEmpty();
            assertThat(run("luns").succeeds().out()).doesNotContain("temporary");
            assertThat(run("lun", "remove", IQN, "0").succeeds().out())
                    .contains("no longer serving " + IQN + " lun 0 ram:1MiB");
            run("reload").succeeds();
            assertThat(json("luns").path("luns")).hasSize(1);
        }
    }

    @Test
    void shouldRefuseAConfigFileThatContradictsAChangeUntilItIsDiscarded() throws Exception {
        try (var _ = new CommandRun.Serving(1, "serve", "--config",
                config("ram:1MiB").toString())) {
            run("lun", "add", IQN, "ram:2MiB").succeeds();
            config("ram:1MiB", file("c", "1MiB"));
            run("reload").fails(1, "configuration not reloaded: LUN 1 of " + IQN
                    + " was added: ram:2MiB, but the configuration now has file:",
                    "'lunar reload --discard'", "still running the previous configuration");
            assertThat(json("luns").path("luns").path(1).path("uri").asString())
                    .isEqualTo("ram:2MiB");
            assertThat(run("reload", "--discard").succeeds().out()).contains(
                    "no longer serving " + IQN + " lun 1 ram:2MiB",
                    "serving " + IQN + " lun 1 " + file("c", "1MiB"));
            assertThat(json("status").path("temporaryChanges")).isEmpty();
        }
    }

    @Test
    void shouldResizeALunAndWarnOfTheConfigFile() throws Exception {
        try (var _ = new CommandRun.Serving(1, "serve", "--config",
                config(file("a", "1MiB")).toString())) {
            assertThat(run("lun", "resize", IQN, "0", "4MiB").succeeds().out()).isEqualTo(
                    "resized " + IQN + " lun 0 " + file("a", "4MiB") + " from 1MiB to 4MiB\n"
                            + "warning: LUN 0 of " + IQN + " is configured with 1 MiB: change that"
                            + " before the next start\n");
            assertThat(Files.size(folder.resolve("a"))).isEqualTo(4 << 20);
            run("lun", "resize", IQN, "0", "2MiB").fails(1, "cannot be shrunk");
            run("lun", "resize", IQN, "0", "much").fails(2, "'much' is not a size");
            assertThat(run("lun", "resize", IQN, "0", "4MiB").succeeds().out())
                    .startsWith("nothing has changed\n");
            assertThat(json("luns").path("luns").path(0).path("temporary").asBoolean()).isTrue();
        }
    }

    @Test
    void shouldDrainAServerAndEndThat() throws Exception {
        try (var serving = new CommandRun.Serving(1, "serve", "--config",
                config("ram:1MiB").toString());
                BlockDevice disk = Devices.open(serving.uri(0))) {
            use(disk);
            assertThat(run("drain", "--wait", "30").succeeds().out())
                    .isEqualTo("the server accepts no logins; sessions ended: 1\n");
            assertThat(run("status").succeeds().out()).contains("drained:  the whole server");
            assertThat(json("sessions").path("sessions")).isEmpty();
            assertThatThrownBy(() -> Devices.open(serving.uri(0)))
                    .hasStackTraceContaining("service unavailable");
            run("drain", "--end", "--target", IQN).fails(1, "'lunar drain --end'");
            assertThat(run("drain", "--end").succeeds().out())
                    .isEqualTo("the server accepts logins again\n");
            use(disk); // the initiator logs in again
            JsonNode drained = json("drain", "--target", IQN, "--wait", "30");
            assertThat(drained.path("ended").asInt()).isEqualTo(drained.path("sessions").asInt());
            assertThat(run("status").succeeds().out())
                    .contains("drained:  " + IQN + " accepts no logins");
            run("drain", "--target", IQN + "2").fails(1, "no target " + IQN + "2 is served");
            run("drain", "--wait", "121").fails(2, "--wait");
            run("drain", "--wait", "1", "--end").fails(2, "--end");
            run("drain", "--end").succeeds();
            assertThat(json("status").path("drainedTargets")).isEmpty();
        }
    }
}
