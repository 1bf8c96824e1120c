package lunar.block;

import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** This module has no device of its own, so every URI must end in one clear line. */
class DevicesTest {
    @ParameterizedTest
    @CsvSource(delimiter = '|', quoteCharacter = '"', value = {
            "tape:x | no device of scheme 'tape:'",
            "trace:verify:delay=1ms:tape:x | no device of scheme 'tape:'",
            "disk.img | is not a device URI", "verify:disk.img | is not a device URI",
            "verify=1:ram:1M | verify: takes no settings", "trace=x:ram:1M | takes no settings",
            "delay:ram:1M | is not a time", "delay=5:ram:1M | is not a time",
            "delay=5ms+:ram:1M | is not a time", "delay=1ms+1ms+1ms:ram:1M | is not a delay",
            "delay=99999s:ram:1M | the longest delay", "throttle=:ram:1M | is not a size",
            "throttle=0:ram:1M | too slow", "throttle=1M,0iops:ram:1M | too slow",
            "throttle=1M,fastiops:ram:1M | 'fast' is not a size",
            "fault:ram:1M | is not a fault rate", "fault=2:ram:1M | is not a fault rate",
            "fault=NaN:ram:1M | is not a fault rate", "fault=-1:ram:1M | is not a fault rate",
            "fault=0.1,kind=bad:ram:1M | not one of error, torn, corrupt",
            "fault=0.1,op=read+erase:ram:1M | 'erase' is not one of read, write",
            "fault=0.1,lba=5:ram:1M | is not a range", "fault=0.1,lba=5-4:ram:1M | not a range",
            "fault=0.1,seed=x:ram:1M | is not a seed",
            "fault=0.1,x:ram:1M | is not a setting of fault"})
    void shouldSayInOneLineWhatIsWrong(String uri, String message) {
        assertThatThrownBy(() -> Devices.open(uri)).isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining(message).hasMessageNotContaining("\n");
    }
}
