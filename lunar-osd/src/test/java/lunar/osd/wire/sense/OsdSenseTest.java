package lunar.osd.wire.sense;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import java.lang.foreign.MemorySegment;
import java.util.Collections;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import lunar.osd.wire.Hex;
import lunar.osd.wire.ObjectId;
import lunar.osd.wire.attribute.AttributeId;
import lunar.scsi.AdditionalSense;
import lunar.scsi.Bytes;
import lunar.scsi.Sense;
import lunar.scsi.SenseDescriptor;
import lunar.scsi.SenseKey;
import org.junit.jupiter.api.Test;

/** Sense data of object-based storage devices, byte by byte. */
class OsdSenseTest {
    private static final ObjectId OBJECT = new ObjectId(0x10000, 0x10001);

    @Test
    void shouldIdentifyTheObject() {
        String hex = "72 05 24 00 000000 28 0206 0000 c00018 00"
                + " 061e 000000000000 b0103030 00000000 0000000000010000 0000000000010001";
        Sense sense = Sense.invalidFieldInCdb(24)
                .withDescriptor(ObjectIdentification.of(OBJECT).descriptor());
        assertThat(sense.encodeDescriptor()).isEqualTo(Hex.array(hex));
        assertThat(Sense.decode(Hex.segment(hex))).isEqualTo(sense);
        assertThat(ObjectIdentification.of(sense)).contains(ObjectIdentification.of(OBJECT));
    }

    @Test
    void shouldTellHowMuchWasReadPastTheEnd() {
        String hex = "72 01 3b 17 000000 2c 010a 0000 0000000000000200"
                + " 061e 000000000000 00000010 b0000000 0000000000010000 0000000000010001";
        var object = new ObjectIdentification(Set.of(CommandFunction.GET_ATTRIBUTES),
                Set.of(CommandFunction.COMMAND, CommandFunction.COMMAND_CAPABILITY,
                        CommandFunction.VALIDATION),
                OBJECT);
        Sense sense = Sense
                .of(SenseKey.RECOVERED_ERROR, AdditionalSense.READ_PAST_END_OF_USER_OBJECT)
                .withCommandSpecific(0x200).withDescriptor(object.descriptor());
        assertThat(sense.encodeDescriptor()).isEqualTo(Hex.array(hex));
        assertThat(ObjectIdentification.of(Sense.decode(Hex.segment(hex)))).contains(object);
        assertThat(Sense.decode(Hex.segment(hex)).commandSpecific()).hasValue(512);
        assertThat(sense.toString()).contains("read past end of user object");
    }

    @Test
    void shouldIdentifyAttributes() {
        String hex = "72 07 55 07 000000 14 0812 0000 90000002 00010001 00000082 ffffffff";
        var attributes = new AttributeIdentification(List
                .of(new AttributeId(0x9000_0002, 0x10001), new AttributeId(0x82, 0xffff_ffff)));
        Sense sense = Sense.of(SenseKey.DATA_PROTECT, AdditionalSense.QUOTA_ERROR)
                .withDescriptor(attributes.descriptor());
        assertThat(sense.encodeDescriptor()).isEqualTo(Hex.array(hex));
        assertThat(AttributeIdentification.of(Sense.decode(Hex.segment(hex))))
                .contains(attributes);
    }

    @Test
    void shouldCarryIntegrityCheckValueAndHideIt() {
        String value = "c1".repeat(32);
        var check = new ResponseIntegrityCheck(Bytes.ofHex(value));
        Sense sense = Sense.NONE.withDescriptor(check.descriptor());
        assertThat(sense.encodeDescriptor())
                .isEqualTo(Hex.array("72 00 00 00 000000 22 0720" + value));
        assertThat(ResponseIntegrityCheck.of(sense)).contains(check);
        assertThat(check + " " + sense).doesNotContain("c1c1");
    }

    @Test
    void shouldFindNothingInOtherSenseData() {
        for (Sense sense : List.of(Sense.NONE, Sense.invalidFieldInCdb(3))) {
            assertThat(ObjectIdentification.of(sense)).isEmpty();
            assertThat(ResponseIntegrityCheck.of(sense)).isEmpty();
            assertThat(AttributeIdentification.of(sense)).isEmpty();
        }
        var cut = new SenseDescriptor(ObjectIdentification.TYPE, Bytes.of(new byte[29]));
        assertThat(ObjectIdentification.of(Sense.NONE.withDescriptor(cut))).isEmpty();
        var empty = new SenseDescriptor(AttributeIdentification.TYPE, Bytes.EMPTY);
        assertThat(AttributeIdentification.of(Sense.NONE.withDescriptor(empty)))
                .contains(new AttributeIdentification(List.of()));
    }

    @Test
    void shouldHaveRoomForAsManyAttributesAsItSays() {
        var id = new AttributeId(1, 2);
        var most = new AttributeIdentification(
                Collections.nCopies(AttributeIdentification.MAX_IDS, id));
        byte[] sense = Sense.NONE.withDescriptor(most.descriptor()).encodeDescriptor();
        assertThat(AttributeIdentification.of(Sense.decode(MemorySegment.ofArray(sense))))
                .contains(most);
        assertThatIllegalArgumentException().isThrownBy(() -> new AttributeIdentification(
                Collections.nCopies(AttributeIdentification.MAX_IDS + 1, id)));
    }

    @Test
    void shouldIgnoreReservedFunctions() {
        assertThat(CommandFunction.ofMask(-1)).isEqualTo(EnumSet.allOf(CommandFunction.class));
        assertThat(CommandFunction.ofMask(1)).isEmpty();
    }
}
