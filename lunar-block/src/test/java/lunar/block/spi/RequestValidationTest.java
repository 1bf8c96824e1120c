package lunar.block.spi;

import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.lang.foreign.MemorySegment;
import java.util.stream.Stream;
import lunar.block.BlockRequest;
import lunar.block.Capability;
import lunar.block.InvalidRequestException;
import lunar.block.NotSupportedException;
import lunar.block.OutOfRangeException;
import lunar.block.StorageException;
import lunar.block.ToyDevice;
import lunar.block.WriteProtectedException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

class RequestValidationTest {
    private static final ToyDevice ALL = new ToyDevice(100, Capability.UNMAP,
            Capability.WRITE_ZEROES, Capability.COMPARE_AND_WRITE);

    static Stream<BlockRequest> good() {
        return Stream.of(new BlockRequest(), new BlockRequest().asFlush(), read(0, 1),
                read(99, 1), read(100, 0), read(0, 64), write(36, 64),
                new BlockRequest().asUnmap(68, 32), new BlockRequest().asWriteZeroes(0, 32, true),
                new BlockRequest().asCompareAndWrite(0, 4, blocks(8), false));
    }

    @ParameterizedTest
    @MethodSource("good")
    void shouldPassWhatFits(BlockRequest request) {
        assertThatCode(() -> RequestValidation.check(request, ALL)).doesNotThrowAnyException();
    }

    static Stream<BlockRequest> outOfRange() {
        return Stream.of(read(-1, 1), read(100, 1), read(99, 2), read(101, 0),
                read(Long.MAX_VALUE, 1), new BlockRequest().asRead(0, -1, MemorySegment.NULL),
                new BlockRequest().asRead(1, Long.MAX_VALUE, MemorySegment.NULL),
                new BlockRequest().asUnmap(90, 11), new BlockRequest().asWriteZeroes(-5, 1, false),
                new BlockRequest().asCompareAndWrite(99, 2, blocks(4), false));
    }

    @ParameterizedTest
    @MethodSource("outOfRange")
    void shouldRejectRangesThatAreNotOnTheDevice(BlockRequest request) {
        assertThatThrownBy(() -> RequestValidation.check(request, ALL))
                .isInstanceOf(OutOfRangeException.class)
                .hasMessageContaining(request.toString());
    }

    static Stream<BlockRequest> invalid() {
        return Stream.of(read(0, 65), write(0, 65), new BlockRequest().asUnmap(0, 33),
                new BlockRequest().asWriteZeroes(0, 33, false),
                new BlockRequest().asCompareAndWrite(0, 5, blocks(10), false),
                new BlockRequest().asRead(0, 2, blocks(1)),
                new BlockRequest().asWrite(0, 1, blocks(2), false),
                new BlockRequest().asCompareAndWrite(0, 1, blocks(1), false),
                new BlockRequest().asRead(0, 1, blocks(1).asReadOnly()));
    }

    @ParameterizedTest
    @MethodSource("invalid")
    void shouldRejectBrokenLimitsAndWrongBuffers(BlockRequest request) {
        assertThatThrownBy(() -> RequestValidation.check(request, ALL))
                .isInstanceOf(InvalidRequestException.class);
    }

    @Test
    void shouldRejectWhatTheDeviceHasNoCapabilityFor() {
        var plain = new ToyDevice(100);
        assertThatThrownBy(() -> RequestValidation.check(new BlockRequest().asUnmap(0, 1), plain))
                .isInstanceOf(NotSupportedException.class).hasMessageContaining("UNMAP");
        assertThatThrownBy(
                () -> RequestValidation.check(new BlockRequest().asWriteZeroes(0, 1, false), plain))
                .isInstanceOf(NotSupportedException.class);
        assertThatThrownBy(
                () -> RequestValidation
                        .check(new BlockRequest().asCompareAndWrite(0, 1, blocks(2), false), plain))
                .isInstanceOf(NotSupportedException.class);
    }

    @Test
    void shouldRejectChangesOfAReadOnlyDevice() throws StorageException {
        var device = new ToyDevice(100, Capability.UNMAP);
        device.readOnly = true;
        RequestValidation.check(read(0, 1), device);
        RequestValidation.check(new BlockRequest().asFlush(), device);
        assertThatThrownBy(() -> RequestValidation.check(write(0, 1), device))
                .isInstanceOf(WriteProtectedException.class);
        assertThatThrownBy(() -> RequestValidation.check(new BlockRequest().asUnmap(0, 1), device))
                .isInstanceOf(WriteProtectedException.class);
    }

    private static BlockRequest read(long lba, int count) {
        return new BlockRequest().asRead(lba, count, blocks(count));
    }

    private static BlockRequest write(long lba, int count) {
        return new BlockRequest().asWrite(lba, count, blocks(count), false);
    }

    private static MemorySegment blocks(int count) {
        return MemorySegment.ofArray(new byte[512 * count]);
    }
}
