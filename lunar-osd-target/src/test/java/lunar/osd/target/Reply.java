package lunar.osd.target;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.HexFormat;
import lunar.osd.wire.ObjectId;
import lunar.osd.wire.sense.CommandFunction;
import lunar.osd.wire.sense.ObjectIdentification;
import lunar.scsi.AdditionalSense;
import lunar.scsi.Sense;
import lunar.scsi.SenseKey;
import lunar.scsi.SenseSpecific;
import lunar.scsi.Status;

/**
 * How a command has ended.
 *
 * @param data data-in that the initiator receives
 * @param dataInBytes data-in that the device had
 * @param memoryBytes memory that was taken for it
 */
record Reply(Status status, Sense sense, byte[] data, int dataInBytes, long memoryBytes) {
    Reply isGood() {
        assertThat(status).as(sense.toString()).isEqualTo(Status.GOOD);
        return this;
    }

    /** Data-in as hexadecimal digits; blanks of the expectation are ignored. */
    Reply has(String hex) {
        assertThat(HexFormat.of().formatHex(data)).isEqualTo(hex.replaceAll("[ |\n]", ""));
        return this;
    }

    /** Failed by an error that names the object. */
    Reply failed(SenseKey key, AdditionalSense additional, ObjectId object) {
        assertThat(status).isEqualTo(Status.CHECK_CONDITION);
        assertThat(sense.key()).as(sense.toString()).isEqualTo(key);
        assertThat(sense.additional()).isEqualTo(additional);
        assertThat(identification().object()).isEqualTo(object);
        return this;
    }

    Reply illegal(AdditionalSense additional, ObjectId object) {
        return failed(SenseKey.ILLEGAL_REQUEST, additional, object);
    }

    /** Failed with INVALID FIELD IN CDB and this field pointer. */
    Reply invalidField(int byteAt, ObjectId object) {
        illegal(AdditionalSense.INVALID_FIELD_IN_CDB, object);
        assertPointer(true, byteAt);
        return this;
    }

    /** Failed with INVALID FIELD IN PARAMETER LIST and this field pointer. */
    Reply invalidParameter(int byteAt, ObjectId object) {
        illegal(AdditionalSense.INVALID_FIELD_IN_PARAMETER_LIST, object);
        assertPointer(false, byteAt);
        return this;
    }

    private void assertPointer(boolean inCdb, int byteAt) {
        assertThat(sense.fieldPointer()).as(sense.toString()).isPresent();
        SenseSpecific.FieldPointer pointer = sense.fieldPointer().orElseThrow();
        assertThat(pointer.inCdb()).isEqualTo(inCdb);
        assertThat(pointer.byteAt()).isEqualTo(byteAt);
    }

    ObjectIdentification identification() { return ObjectIdentification.of(sense).orElseThrow(); }

    Reply completed(CommandFunction... functions) {
        assertThat(identification().completed()).containsExactlyInAnyOrder(functions);
        return this;
    }

    Reply notInitiated(CommandFunction... functions) {
        assertThat(identification().notInitiated()).containsExactlyInAnyOrder(functions);
        return this;
    }
}
