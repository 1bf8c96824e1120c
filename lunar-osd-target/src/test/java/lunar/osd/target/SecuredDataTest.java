package lunar.osd.target;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import java.util.List;
import java.util.function.Function;
import lunar.osd.security.IntegrityCheck;
import lunar.osd.security.IntegrityValues;
import lunar.osd.wire.BufferPart;
import lunar.osd.wire.EncodedOffset;
import lunar.osd.wire.ObjectId;
import lunar.osd.wire.OsdVersion;
import lunar.osd.wire.ServiceAction;
import lunar.osd.wire.attribute.Attribute;
import lunar.osd.wire.attribute.AttributeId;
import lunar.osd.wire.attribute.GetAttributesList;
import lunar.osd.wire.attribute.ListParameters;
import lunar.osd.wire.attribute.RetrievedAttributesList;
import lunar.osd.wire.attribute.SetAttributesList;
import lunar.osd.wire.command.ByteRangeCommand;
import lunar.osd.wire.command.CommonFields;
import lunar.osd.wire.command.OsdCdb;
import lunar.osd.wire.command.PerformTaskManagementCommand;
import lunar.osd.wire.data.ContinuationDescriptor.ScatterGather;
import lunar.osd.wire.data.ContinuationSegment;
import lunar.osd.wire.page.CurrentCommandAttribute;
import lunar.osd.wire.security.DataIntegrity;
import lunar.osd.wire.security.RequestNonce;
import lunar.osd.wire.security.SecurityMethod;
import lunar.scsi.AdditionalSense;
import lunar.scsi.Bytes;
import lunar.scsi.Status;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** ALLDATA: integrity of data-out and data-in; and of CDB continuation segments. */
class SecuredDataTest {
    private static final byte[] DATA = "0123456789abcdef".getBytes(US_ASCII);
    private static final OsdVersion V2 = OsdVersion.OSD_2;
    private static final int INFO_OUT = DataIntegrity.length(DataIntegrity.OUT_PARTS, V2);
    private static final int INFO_IN = DataIntegrity.length(DataIntegrity.IN_PARTS, V2);
    private static final AdditionalSense WRONG_DATA_OUT = new AdditionalSense(0x26, 0x0f);
    private static final AttributeId COLOUR = new AttributeId(0x1_0000, 1);

    private SecuredFixture device;

    @BeforeEach
    void open() throws Exception {
        device = new SecuredFixture(SecurityMethod.ALLDATA).withObject();
    }

    @AfterEach
    void close() throws Exception { device.close(); }

    private static Function<CommonFields, OsdCdb> write() {
        return common -> new ByteRangeCommand(ServiceAction.WRITE, common, SecuredFixture.OBJECT,
                DATA.length, 0, 0);
    }

    private static Function<CommonFields, OsdCdb> read() {
        return common -> new ByteRangeCommand(ServiceAction.READ, common, SecuredFixture.OBJECT,
                DATA.length, 0, 0);
    }

    /** WRITE with its data, a set list, a get list and their integrity information, in this order. */
    private SecuredFixture.Sealed writing() {
        byte[] set = new SetAttributesList(List.of(new Attribute(COLOUR, Bytes.of((byte) 7))))
                .bytes(V2);
        byte[] get = new GetAttributesList(List.of(COLOUR)).bytes(V2);
        int setAt = DATA.length;
        int getAt = setAt + set.length;
        int infoAt = getAt + get.length;
        byte[] out = Arrays.copyOf(DATA, infoAt + INFO_OUT);
        System.arraycopy(set, 0, out, setAt, set.length);
        System.arraycopy(get, 0, out, getAt, get.length);
        var attributes = new ListParameters(new BufferPart(getAt, get.length),
                new BufferPart(0, 64), new BufferPart(setAt, set.length));
        SecuredFixture.Sealed sealed = device.seal(write(), attributes, out,
                SecuredFixture.nonce(), EncodedOffset.encode(64, V2),
                EncodedOffset.encode(infoAt, V2));
        info(sealed, infoAt, MemorySegment.ofArray(DATA), MemorySegment.ofArray(set),
                MemorySegment.ofArray(get));
        return sealed;
    }

    private static void info(SecuredFixture.Sealed sealed, int at, MemorySegment... parts) {
        Bytes value = IntegrityValues.ofData(sealed.key(), sealed.nonce(), parts);
        new DataIntegrity(Arrays.stream(parts).map(MemorySegment::byteSize).toList(),
                IntegrityCheck.field(value, 32))
                .encode(MemorySegment.ofArray(sealed.out()).asSlice(at));
    }

    private SecuredFixture.Sealed reading(int infoAt) {
        return device.seal(read(), ListParameters.NONE, new byte[0], SecuredFixture.nonce(),
                infoAt < 0 ? EncodedOffset.UNUSED : EncodedOffset.encode(infoAt, V2),
                EncodedOffset.UNUSED);
    }

    @Test
    void shouldSealDataInBothDirections() throws Exception {
        SecuredFixture.Sealed sealed = writing();
        byte[] in = device.send(sealed).isGood().data();
        assertThat(device.stored()).isEqualTo(DATA);
        assertThat(in).hasSize(64 + INFO_IN);
        var retrieved = MemorySegment.ofArray(in).asSlice(0, 64);
        assertThat(RetrievedAttributesList.decode(retrieved, V2).attributes())
                .containsExactly(new Attribute(COLOUR, Bytes.of((byte) 7)));
        int length = 8 + 16 + 8; // header, and an entry of one byte
        assertInfo(in, 64, sealed, MemorySegment.NULL, retrieved.asSlice(0, length));

        SecuredFixture.Sealed reading = reading(32);
        byte[] read = device.send(reading).isGood().data();
        assertThat(Arrays.copyOf(read, 32)).isEqualTo(Arrays.copyOf(DATA, 32));
        assertInfo(read, 32, reading, MemorySegment.ofArray(DATA), MemorySegment.NULL);
    }

    private static void assertInfo(byte[] in, int at, SecuredFixture.Sealed command,
            MemorySegment data, MemorySegment retrieved) {
        var info = DataIntegrity.decode(MemorySegment.ofArray(in).asSlice(at, INFO_IN), 2, V2);
        assertThat(info.lengths()).containsExactly(data.byteSize(), retrieved.byteSize());
        assertThat(info.value()).isEqualTo(IntegrityCheck.field(
                IntegrityValues.ofData(command.key(), command.nonce(), data, retrieved), 32));
    }

    @Test
    void shouldRefuseEveryFlippedBitOfDataOut() throws Exception {
        for (int bit = 0; bit < 8 * writing().out().length; bit++) {
            SecuredFixture.Sealed sealed = writing();
            sealed.out()[bit / 8] ^= (byte) (1 << bit % 8);
            Reply reply = device.send(sealed);
            assertThat(reply.status()).as("bit %d", bit).isEqualTo(Status.CHECK_CONDITION);
        }
        assertThat(device.stored()).isEmpty();
        SecuredFixture.Sealed sealed = writing();
        sealed.out()[3] ^= 1;
        device.send(sealed).illegal(WRONG_DATA_OUT, SecuredFixture.OBJECT).completed();
    }

    @Test
    void shouldRefuseDataOfAnotherCommand() throws Exception {
        SecuredFixture.Sealed first = writing();
        SecuredFixture.Sealed second = writing();
        device.send(first.cdb(), second.out()).illegal(WRONG_DATA_OUT, SecuredFixture.OBJECT);
        assertThat(device.stored()).isEmpty();
    }

    @Test
    void shouldRefuseDataWithoutIntegrityInformation() throws Exception {
        device.send(device.seal(write(), ListParameters.NONE, DATA, SecuredFixture.nonce()))
                .illegal(WRONG_DATA_OUT, SecuredFixture.OBJECT);
        SecuredFixture.Sealed cut = device.seal(write(), ListParameters.NONE,
                Arrays.copyOf(DATA, DATA.length + INFO_OUT - 1), SecuredFixture.nonce(),
                EncodedOffset.UNUSED, EncodedOffset.encode(DATA.length, V2));
        device.send(cut).illegal(new AdditionalSense(0x1a, 0), SecuredFixture.OBJECT);
        SecuredFixture.Sealed overlapping = device.seal(write(), ListParameters.NONE,
                Arrays.copyOf(DATA, DATA.length + INFO_OUT), SecuredFixture.nonce(),
                EncodedOffset.UNUSED, EncodedOffset.encode(8, V2));
        device.send(overlapping).invalidField(232, SecuredFixture.OBJECT);
        assertThat(device.stored()).isEmpty();
    }

    @Test
    void shouldNeedAPlaceForIntegrityInformationOfDataIn() {
        device.send(reading(-1)).invalidField(228, SecuredFixture.OBJECT);
        device.send(reading(8)).invalidField(228, SecuredFixture.OBJECT);
        SecuredFixture.Sealed far = reading(OsdFixture.MAX_TRANSFER);
        device.send(far).invalidField(228, SecuredFixture.OBJECT);
        SecuredFixture.Sealed invalid = device.seal(read(), ListParameters.NONE, new byte[0],
                SecuredFixture.nonce(), 0x8000_0001, EncodedOffset.UNUSED);
        device.send(invalid).invalidField(228, SecuredFixture.OBJECT);
    }

    @Test
    void shouldReturnResponseValueAsAttribute() throws Exception {
        var id = CurrentCommandAttribute.RESPONSE_INTEGRITY_CHECK_VALUE.id();
        try (var other = new SecuredFixture(SecurityMethod.CMDRSP).withObject()) {
            byte[] get = new GetAttributesList(List.of(id)).bytes(V2);
            SecuredFixture.Sealed sealed = other.seal(
                    common -> new ByteRangeCommand(ServiceAction.READ, common,
                            SecuredFixture.OBJECT, 0, 0, 0),
                    new ListParameters(new BufferPart(0, get.length), new BufferPart(0, 64),
                            BufferPart.NONE),
                    get, SecuredFixture.nonce());
            byte[] in = other.send(sealed).isGood().data();
            Bytes expected = IntegrityCheck.field(IntegrityValues.ofResponse(sealed.key(),
                    sealed.nonce(), Status.GOOD), 32);
            assertThat(RetrievedAttributesList.decode(MemorySegment.ofArray(in), V2).attributes())
                    .containsExactly(new Attribute(id, expected));
        }
    }

    @Test
    void shouldReturnNoValueOfGoodWithCheckCondition() throws Exception {
        var id = CurrentCommandAttribute.RESPONSE_INTEGRITY_CHECK_VALUE.id();
        try (var other = new SecuredFixture(SecurityMethod.CMDRSP).withObject()) {
            byte[] get = new GetAttributesList(List.of(id)).bytes(V2);
            Reply past = other.send(other.seal(read(),
                    new ListParameters(new BufferPart(0, get.length), new BufferPart(64, 64),
                            BufferPart.NONE),
                    get, SecuredFixture.nonce()));
            assertThat(past.status()).isEqualTo(Status.CHECK_CONDITION);
            assertThat(RetrievedAttributesList.decode(
                    MemorySegment.ofArray(past.data()).asSlice(64), V2).attributes())
                    .containsExactly(new Attribute(id, Bytes.of(new byte[32])));
        }
    }

    @Test
    void shouldCheckContinuationSegments() throws Exception {
        try (var other = new SecuredFixture(SecurityMethod.CMDRSP).withObject()) {
            byte[] segment = ContinuationSegment.of(ServiceAction.WRITE, new ScatterGather(
                    List.of(new ScatterGather.Extent(4, DATA.length)))).bytes();
            byte[] out = Arrays.copyOf(segment, segment.length + DATA.length);
            System.arraycopy(DATA, 0, out, segment.length, DATA.length);
            SecuredFixture.Sealed sealed = other.seal(
                    common -> new ByteRangeCommand(ServiceAction.WRITE, common,
                            SecuredFixture.OBJECT, DATA.length, 0, segment.length),
                    ListParameters.NONE, out, SecuredFixture.nonce());
            other.send(sealed).illegal(WRONG_DATA_OUT, SecuredFixture.OBJECT);
            assertThat(other.stored()).isEmpty();

            SecuredFixture.Sealed again = other.seal(
                    common -> new ByteRangeCommand(ServiceAction.WRITE, common,
                            SecuredFixture.OBJECT, DATA.length, 0, segment.length),
                    ListParameters.NONE, out, SecuredFixture.nonce());
            IntegrityValues.sealContinuation(again.key(), again.nonce(),
                    MemorySegment.ofArray(out).asSlice(0, segment.length));
            other.send(again).isGood();
            assertThat(other.stored()).isEqualTo(("\0\0\0\0" + new String(DATA, US_ASCII))
                    .getBytes(US_ASCII));
        }
    }

    @Test
    void shouldRefuseTaskManagementWithAttributes() {
        byte[] set = new SetAttributesList(List.of(new Attribute(COLOUR, Bytes.of((byte) 7))))
                .bytes(V2);
        var attributes = new ListParameters(BufferPart.NONE, BufferPart.NONE,
                new BufferPart(0, set.length));
        device.send(device.seal(
                common -> new PerformTaskManagementCommand(common, ObjectId.ROOT, 8, 1, 5),
                attributes, set, SecuredFixture.nonce())).invalidField(52, ObjectId.ROOT);
    }

    @Test
    void shouldIgnoreSecurityFieldsWithoutSecurity() throws Exception {
        try (var plain = new OsdFixture().withObject()) {
            SecuredFixture.Sealed sealed = device.seal(write(), ListParameters.NONE, DATA,
                    RequestNonce.NONE, 0x8000_0001, 0x8000_0001);
            plain.run(sealed.cdb(), DATA, 0).isGood();
            assertThat(plain.read(OsdFixture.OBJECT, 0, DATA.length).isGood().data())
                    .isEqualTo(DATA);
        }
    }
}
