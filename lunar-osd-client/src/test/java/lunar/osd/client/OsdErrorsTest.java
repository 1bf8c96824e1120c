package lunar.osd.client;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import java.io.IOException;
import java.util.List;
import java.util.stream.Stream;
import lunar.block.DeviceGoneException;
import lunar.block.MediumException;
import lunar.block.NotSupportedException;
import lunar.osd.wire.ObjectId;
import lunar.osd.wire.ServiceAction;
import lunar.osd.wire.page.UserObjectAttribute;
import lunar.osd.wire.sense.AttributeIdentification;
import lunar.osd.wire.sense.ObjectIdentification;
import lunar.scsi.AdditionalSense;
import lunar.scsi.Sense;
import lunar.scsi.SenseKey;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** The exceptions that sense data become. */
class OsdErrorsTest {
    private static final ObjectId OBJECT = new ObjectId(0x10000, 0x10001);

    private final ScriptedUnit unit = new ScriptedUnit();

    private static Sense illegal(int asc, int ascq) {
        return Sense.of(SenseKey.ILLEGAL_REQUEST, new AdditionalSense(asc, ascq));
    }

    static Stream<Arguments> refusals() {
        return Stream.of(
                Arguments.of(Sense.invalidFieldInCdb(24), NoSuchObjectException.class),
                Arguments.of(Sense.invalidFieldInCdb(16), NoSuchObjectException.class),
                Arguments.of(Sense.invalidFieldInCdb(40), CommandRejectedException.class),
                Arguments.of(Sense.invalidFieldInCdb(129), AccessDeniedException.class),
                Arguments.of(illegal(0x24, 0x06), AccessDeniedException.class),
                Arguments.of(illegal(0x26, 0x0f), AccessDeniedException.class),
                Arguments.of(illegal(0x26, 0x00), CommandRejectedException.class),
                Arguments.of(illegal(0x2c, 0x0a), NotEmptyException.class),
                Arguments.of(Sense.of(SenseKey.DATA_PROTECT, new AdditionalSense(0x55, 0x07)),
                        QuotaExceededException.class));
    }

    @ParameterizedTest
    @MethodSource("refusals")
    void shouldTellWhyTheDeviceRefuses(Sense sense, Class<? extends OsdException> type)
            throws Exception {
        unit.on(ServiceAction.REMOVE, _ -> ScriptedUnit
                .check(sense.withDescriptor(ObjectIdentification.of(OBJECT).descriptor())));
        UserObject object = unit.open().partition(0x10000).object(0x10001);

        OsdException failure = catchThrowableOfType(type, object::remove);

        assertThat(failure.object()).isEqualTo(OBJECT);
        assertThat(failure.sense().additional()).isEqualTo(sense.additional());
        assertThat(failure).hasMessageStartingWith("REMOVE of 10000h/10001h on scripted/0: ");
        assertThat(unit.received()).hasSize(1);
    }

    @Test
    void shouldTellThatTheRequestedIdentifierIsInUse() throws Exception {
        unit.on(ServiceAction.CREATE, _ -> ScriptedUnit.check(Sense.invalidFieldInCdb(24)))
                .on(ServiceAction.CREATE_PARTITION,
                        _ -> ScriptedUnit.check(Sense.invalidFieldInCdb(16)));
        Osd osd = unit.open();

        var ofObject = catchThrowableOfType(ObjectExistsException.class,
                () -> osd.partition(0x10000).create(0x10001));
        assertThat(ofObject.object()).isEqualTo(OBJECT);
        assertThat(catchThrowableOfType(ObjectExistsException.class,
                () -> osd.createPartition(0x10000))).isNotNull();
    }

    @Test
    void shouldTellThatThePartitionOfANewObjectDoesNotExist() throws Exception {
        unit.on(ServiceAction.CREATE, _ -> ScriptedUnit.check(Sense.invalidFieldInCdb(16)));
        Partition partition = unit.open().partition(0x10000);

        assertThat(catchThrowableOfType(NoSuchObjectException.class, partition::create))
                .isNotNull();
    }

    @Test
    void shouldNameTheQuota() throws Exception {
        unit.on(ServiceAction.CLEAR, _ -> ScriptedUnit
                .check(Sense.of(SenseKey.DATA_PROTECT, new AdditionalSense(0x55, 0x07))
                        .withDescriptor(new AttributeIdentification(
                                List.of(UserObjectAttribute.MAX_LENGTH.id())).descriptor())));
        UserObject object = unit.open().partition(0x10000).object(0x10001);

        var failure = catchThrowableOfType(QuotaExceededException.class,
                () -> object.clear(0, 1 << 20));

        assertThat(failure.quotas()).containsExactly(UserObjectAttribute.MAX_LENGTH.id());
    }

    @Test
    void shouldLeaveFailuresOfStorageAsTheyAre() throws Exception {
        assertThat(failure(Sense.of(SenseKey.MEDIUM_ERROR, new AdditionalSense(0x11, 0))))
                .isInstanceOf(MediumException.class);
        assertThat(failure(illegal(0x20, 0))).isInstanceOf(NotSupportedException.class);
        assertThat(failure(illegal(0x25, 0))).isInstanceOf(DeviceGoneException.class);
    }

    private IOException failure(Sense sense) throws Exception {
        unit.on(ServiceAction.REMOVE, _ -> ScriptedUnit.check(sense));
        UserObject object = unit.open().partition(0x10000).object(0x10001);
        return catchThrowableOfType(IOException.class, object::remove);
    }
}
