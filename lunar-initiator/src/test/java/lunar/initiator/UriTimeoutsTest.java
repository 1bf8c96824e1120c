package lunar.initiator;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import lunar.block.DeadlineException;
import lunar.block.DeviceGoneException;
import lunar.block.StorageException;
import lunar.iscsi.LoginException;
import lunar.iscsi.pdu.TaskManagementFunction;
import lunar.iscsi.pdu.TaskManagementRequest;
import lunar.iscsi.pdu.TaskManagementResponse;
import lunar.iscsi.pdu.TaskManagementResponseCode;
import lunar.scsi.Lun;
import lunar.scsi.block.ReadBlocks;
import lunar.testkit.ScriptedPeer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Tests that a target that is silent is given up after the times in its URI. */
@Timeout(180)
class UriTimeoutsTest {
    /** Options without which another timeout could come first on a slow machine. */
    private static final String PATIENT = "?connect-timeout=600s&keep-alive=600s";

    private static Session login(Loopback loopback, String options) throws IOException {
        return loopback.initiator.login("iscsi://" + loopback.target.portal() + "/"
                + Loopback.TARGET + PATIENT + options);
    }

    private static ScsiResult read(Session session) throws StorageException {
        return session.execute(Lun.ZERO, ReadBlocks.of(0, 1).bytes(), Loopback.blocks(1),
                MemorySegment.NULL);
    }

    @Test
    void shouldGiveUpALoginThatIsNotAnswered() throws Exception {
        try (var loopback = new Loopback(ScriptedPeer::awaitEnd)) {
            assertThatThrownBy(() -> login(loopback, "&login-timeout=150ms"))
                    .isInstanceOf(LoginException.class)
                    .hasMessageContaining(loopback.target.portal())
                    .hasMessageContaining("no response within 150 ms");
        }
    }

    @Test
    void shouldAbortACommandThatIsNotAnswered() throws Exception {
        try (var loopback = Loopback.disk((peer, command, cdb) -> {
            if (!(cdb instanceof ReadBlocks)) {
                return false;
            }
            var abort = peer.receive(TaskManagementRequest.class);
            assertThat(abort.function()).isEqualTo(TaskManagementFunction.ABORT_TASK.code());
            assertThat(abort.referencedTaskTag()).isEqualTo(command.itt());
            peer.send(new TaskManagementResponse(
                    TaskManagementResponseCode.FUNCTION_COMPLETE.code(), 0, abort.itt(),
                    peer.statSn(), peer.expCmdSn(), peer.maxCmdSn()));
            return true;
        });
                Session session = login(loopback,
                        "&login-timeout=600s&command-timeout=1500ms&abort-timeout=600s")) {
            assertThatThrownBy(() -> read(session)).isInstanceOf(DeadlineException.class)
                    .hasMessageContaining("no response within 1500 ms, aborted");
            assertThat(session.isOpen()).isTrue();
        }
    }

    @Test
    void shouldDropASessionWhoseTargetDoesNotAnswerTheAbort() throws Exception {
        try (var loopback = Loopback.disk((peer, _, cdb) -> {
            if (cdb instanceof ReadBlocks) {
                peer.awaitEnd();
                throw new IOException("the script is over");
            }
            return false;
        });
                Session session = login(loopback,
                        "&login-timeout=600s&command-timeout=1500ms&abort-timeout=100ms")) {
            assertThatThrownBy(() -> read(session)).isInstanceOf(DeviceGoneException.class)
                    .hasMessageContaining("did not respond in time");
            assertThat(session.isOpen()).isFalse();
        }
    }

    @Test
    void shouldNotWaitLongerForALogout() throws Exception {
        try (var loopback = new Loopback(peer -> {
            peer.login();
            peer.awaitEnd();
        })) {
            Session session = login(loopback, "&login-timeout=600s&logout-timeout=100ms");
            session.close();
            assertThat(session.isOpen()).isFalse();
        }
    }
}
