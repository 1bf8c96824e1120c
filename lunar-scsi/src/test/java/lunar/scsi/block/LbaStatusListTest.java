package lunar.scsi.block;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.MemorySegment;
import java.util.List;
import lunar.scsi.block.LbaStatusList.Extent;
import lunar.scsi.block.LbaStatusList.Provisioning;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class LbaStatusListTest {
    private static final int STATUS = 20;

    /** SBC-4 section 5.9.2: 3 is mapped, 4 is unknown. */
    @ParameterizedTest
    @CsvSource({"0, MAPPED", "1, DEALLOCATED", "2, ANCHORED", "3, MAPPED", "4, UNKNOWN",
            "15, UNKNOWN"})
    void shouldDecodeProvisioningStatus(byte code, Provisioning status) throws Exception {
        byte[] list = new LbaStatusList(List.of(new Extent(0, 8, Provisioning.MAPPED))).bytes();
        list[STATUS] = code;
        assertThat(LbaStatusList.decode(MemorySegment.ofArray(list)).extents())
                .containsExactly(new Extent(0, 8, status));
    }

    @Test
    void shouldEncodeProvisioningStatus() {
        assertThat(List.of(Provisioning.values())).extracting(status -> new LbaStatusList(
                List.of(new Extent(0, 8, status))).bytes()[STATUS])
                .containsExactly((byte) 0, (byte) 1, (byte) 2, (byte) 4);
    }
}
