package lunar.osd.client;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashSet;
import java.util.List;
import lunar.block.MediumException;
import lunar.osd.client.security.CredentialIssuer;
import lunar.osd.client.security.CredentialSet;
import lunar.osd.client.security.Grant;
import lunar.osd.client.security.NoCredentialException;
import lunar.osd.client.security.SecuredDevice;
import lunar.osd.security.Credential;
import lunar.osd.security.IntegrityCheck;
import lunar.osd.security.IntegrityValues;
import lunar.osd.security.SecretKey;
import lunar.osd.wire.ObjectId;
import lunar.osd.wire.OsdVersion;
import lunar.osd.wire.ServiceAction;
import lunar.osd.wire.attribute.Attribute;
import lunar.osd.wire.page.CurrentCommandAttribute;
import lunar.osd.wire.security.Permission;
import lunar.osd.wire.security.RequestNonce;
import lunar.osd.wire.security.SecurityMethod;
import lunar.scsi.AdditionalSense;
import lunar.scsi.Bytes;
import lunar.scsi.Sense;
import lunar.scsi.SenseKey;
import lunar.scsi.Status;
import org.junit.jupiter.api.Test;

/** Sealed commands, and responses of a device, or of somebody between, that has not the key. */
class ForgedResponseTest {
    private static final ObjectId OBJECT = new ObjectId(0x1_0000, 0x1_0001);

    /** A partition of a device that is known. */
    private static final SecuredDevice DEVICE = new SecuredDevice() {
        @Override
        public Bytes systemId() { return Bytes.of(new byte[20]); }

        @Override
        public PartitionKeyIds keyIds(long partition) {
            return new PartitionKeyIds(1, Bytes.EMPTY,
                    Collections.nCopies(16, Bytes.EMPTY));
        }
    };

    private final ScriptedUnit unit = new ScriptedUnit();

    private static Credential credential(SecurityMethod method) throws Exception {
        return new CredentialIssuer(SecretKey.of(Bytes.ofHex("2c".repeat(40))), method)
                .issue(DEVICE, Grant.of(OBJECT, Permission.READ, Permission.WRITE));
    }

    private UserObject object(Credential credential) throws Exception {
        return unit.open(OsdOptions.DEFAULT
                .withCredentials(new CredentialSet(List.of(credential))))
                .partition(OBJECT.partition()).object(OBJECT.object());
    }

    private void assertForged(UserObject object) {
        assertThatExceptionOfType(MediumException.class)
                .isThrownBy(() -> object.write(0, MemorySegment.ofArray(new byte[8])))
                .withMessageContaining("not authentic");
        assertThatExceptionOfType(MediumException.class)
                .isThrownBy(() -> object.read(0, MemorySegment.ofArray(new byte[8])))
                .withMessageContaining("not authentic");
    }

    private static Bytes value(Credential credential, ScriptedUnit.Received command) {
        return IntegrityCheck.field(IntegrityValues.ofResponse(credential.capabilityKey(),
                command.cdb().common().security().nonce(), Status.GOOD), 32);
    }

    private static Attribute response(Bytes value) {
        return new Attribute(CurrentCommandAttribute.RESPONSE_INTEGRITY_CHECK_VALUE.id(), value);
    }

    @Test
    void shouldNotBelieveResponsesWithoutValue() throws Exception {
        for (SecurityMethod method : List.of(SecurityMethod.CMDRSP, SecurityMethod.ALLDATA)) {
            assertForged(object(credential(method)));
        }
    }

    @Test
    void shouldNotBelieveWrongValues() throws Exception {
        Credential credential = credential(SecurityMethod.CMDRSP);
        UserObject object = object(credential);
        ScriptedUnit.Answer wrong = command -> {
            Bytes right = value(credential, command);
            return command.retrieved(response(right.with(0, right.at(0) ^ 1)));
        };
        unit.on(ServiceAction.READ, wrong).on(ServiceAction.WRITE, wrong);
        assertForged(object);
        Sense sense = Sense.of(SenseKey.RECOVERED_ERROR, new AdditionalSense(0x3b, 0x17));
        ScriptedUnit.Answer unsealed = _ -> ScriptedUnit.check(sense);
        unit.on(ServiceAction.READ, unsealed).on(ServiceAction.WRITE, unsealed);
        assertForged(object);
    }

    private static final List<Sense> STATE_OF_OBJECTS = List.of(Sense.invalidFieldInCdb(24),
            Sense.invalidFieldInCdb(16),
            Sense.of(SenseKey.ILLEGAL_REQUEST, new AdditionalSense(0x2c, 0x0a)),
            Sense.of(SenseKey.DATA_PROTECT, new AdditionalSense(0x55, 0x07)));

    @Test
    void shouldNotBelieveRefusalsWithoutValue() throws Exception {
        for (SecurityMethod method : List.of(SecurityMethod.CMDRSP, SecurityMethod.ALLDATA)) {
            UserObject object = object(credential(method));
            for (Sense sense : STATE_OF_OBJECTS) {
                ScriptedUnit.Answer invented = _ -> ScriptedUnit.check(sense);
                unit.on(ServiceAction.READ, invented).on(ServiceAction.WRITE, invented);
                assertForged(object);
                ScriptedUnit.Answer wrong = _ -> ScriptedUnit.check(IntegrityValues.seal(
                        Bytes.of(new byte[20]), RequestNonce.NONE, OsdVersion.OSD_2, sense));
                unit.on(ServiceAction.READ, wrong).on(ServiceAction.WRITE, wrong);
                assertForged(object);
            }
        }
    }

    @Test
    void shouldBelieveSealedRefusals() throws Exception {
        Credential credential = credential(SecurityMethod.CMDRSP);
        UserObject object = object(credential);
        for (Sense sense : STATE_OF_OBJECTS) {
            unit.on(ServiceAction.READ, command -> ScriptedUnit.check(IntegrityValues.seal(
                    credential.capabilityKey(), command.cdb().common().security().nonce(),
                    OsdVersion.OSD_2, sense)));
            assertThatExceptionOfType(OsdException.class)
                    .isThrownBy(() -> object.read(0, MemorySegment.ofArray(new byte[8])));
        }
    }

    @Test
    void shouldSealCommandsWithNewNonces() throws Exception {
        Credential credential = credential(SecurityMethod.CMDRSP);
        UserObject object = object(credential);
        unit.on(ServiceAction.READ, command -> command
                .retrieved(response(value(credential, command))));
        var nonces = new HashSet<Bytes>();
        for (int i = 0; i < 3; i++) {
            object.read(0, MemorySegment.ofArray(new byte[8]));
            ScriptedUnit.Received sent = unit.received().getLast();
            assertThat(sent.cdb().common().capability()).isEqualTo(credential.capability());
            assertThat(sent.cdb().common().security().integrityCheckValue())
                    .isEqualTo(IntegrityCheck.field(IntegrityValues.ofCdb(
                            credential.capabilityKey(), MemorySegment.ofArray(sent.bytes()),
                            OsdVersion.OSD_2), 32));
            nonces.add(sent.cdb().common().security().nonce().bytes());
        }
        assertThat(nonces).hasSize(3);
    }

    @Test
    void shouldTakeNewerNonceIfOneIsTooOld() throws Exception {
        Credential credential = credential(SecurityMethod.CMDRSP);
        UserObject object = object(credential);
        var times = new ArrayList<Long>();
        unit.on(ServiceAction.READ, command -> {
            times.add(command.cdb().common().security().nonce().timeMs());
            return times.size() == 1
                    ? ScriptedUnit.check(Sense.of(SenseKey.ILLEGAL_REQUEST,
                            new AdditionalSense(0x24, 0x07)))
                    : command.retrieved(response(value(credential, command)));
        });
        object.read(0, MemorySegment.ofArray(new byte[8]));
        assertThat(times).hasSize(2);
        assertThat(times.get(1) - times.get(0)).isGreaterThanOrEqualTo(15_000);
    }

    @Test
    void shouldGiveUpIfAccessIsDeniedAgain() throws Exception {
        UserObject object = object(credential(SecurityMethod.CMDRSP));
        unit.on(ServiceAction.READ, _ -> ScriptedUnit.check(Sense.invalidFieldInCdb(184)));
        assertThatExceptionOfType(AccessDeniedException.class)
                .isThrownBy(() -> object.read(0, MemorySegment.ofArray(new byte[8])));
        assertThat(unit.received()).hasSizeLessThan(6);
    }

    @Test
    void shouldSendNothingWithoutCredential() throws Exception {
        UserObject object = object(credential(SecurityMethod.CMDRSP));
        assertThatExceptionOfType(NoCredentialException.class)
                .isThrownBy(() -> object.append(MemorySegment.ofArray(new byte[1])))
                .withMessageContaining("APPEND");
        assertThat(unit.received()).isEmpty();
    }
}
