package lunar.filter;

import static org.assertj.core.api.Assertions.assertThatThrownBy;

import lunar.block.Devices;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * Tests errors in URIs of filters. This module has no device of its own, so every URI must fail with a one-line
 * message.
 */
class FilterUriTest {
    @ParameterizedTest
    @CsvSource(delimiter = '|', quoteCharacter = '"', value = {
            "tape:x | no device of scheme 'tape:'",
            "trace:verify:delay=1ms:tape:x | no device of scheme 'tape:'",
            "disk.img | is not a device URI", "verify:disk.img | is not a device URI",
            "verify=1:ram:1M | verify: takes no settings", "trace=x:ram:1M | takes no settings",
            "delay:ram:1M | is not a time", "delay=5:ram:1M | is not a time",
            "delay=5ms+:ram:1M | is not a time", "delay=1ms+1ms+1ms:ram:1M | is not a delay",
            "delay=99999s:ram:1M | the longest delay", "throttle=:ram:1M | is not a size",
            "throttle=0:ram:1M | is below the minimum of a throttle",
            "throttle=1M,0iops:ram:1M | below the minimum",
            "throttle=1M,fastiops:ram:1M | 'fast' is not a size",
            "fault:ram:1M | is not a fault rate", "fault=2:ram:1M | is not a fault rate",
            "fault=NaN:ram:1M | is not a fault rate", "fault=-1:ram:1M | is not a fault rate",
            "fault=0.1,kind=bad:ram:1M | not one of error, torn, corrupt",
            "fault=0.1,op=read+erase:ram:1M | 'erase' is not one of read, write",
            "fault=0.1,lba=5:ram:1M | is not a range", "fault=0.1,lba=5-4:ram:1M | not a range",
            "fault=0.1,seed=x:ram:1M | is not a seed",
            "fault=0.1,x:ram:1M | is not a setting of fault", "cache:ram:1M | is not a size",
            "cache=32KiB:ram:1M | fewer than 16", "cache=1M,page=3000:ram:1M | a power of two",
            "cache=1M,policy=mru:ram:1M | supported: s3-fifo, lru",
            "cache=1M,read-ahead=512KiB:ram:1M | reads at most 256 KiB ahead",
            "cache=1M,size=1:ram:1M | is not a setting of cache",
            "schedule:ram:1M | supported: fifo, elevator", "schedule=sstf:ram:1M | 'sstf' is not",
            "schedule=fifo,depth=0:ram:1M | from 1 to 1024",
            "schedule=fifo,merge=2MiB:ram:1M | at most 1 MiB",
            "schedule=elevator,deadline=5:ram:1M | is not a time",
            "schedule=fifo,x:ram:1M | is not a setting of schedule"})
    void shouldReportErrorInOneLine(String uri, String message) {
        assertThatThrownBy(() -> Devices.open(uri)).isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining(message).hasMessageNotContaining("\n");
    }
}
