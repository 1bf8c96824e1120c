package lunar.block.spi;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import lunar.block.BlockDevice;
import lunar.block.BlockRequest;
import lunar.block.BusyException;
import lunar.block.ForwardingDevice;
import lunar.block.InvalidRequestException;
import lunar.block.MediumException;
import lunar.block.OutOfRangeException;
import lunar.block.StorageException;
import lunar.block.ToyDevice;
import org.junit.jupiter.api.Test;

class RequestCompletionTest {
    private final List<Optional<StorageException>> results = new ArrayList<>();
    private final BlockRequest request = new BlockRequest()
            .onCompletion((_, failure) -> results.add(Optional.ofNullable(failure)));

    /** A device whose requests fail as a bug of it would make them. */
    private static BlockDevice throwing(RuntimeException failure) {
        return new ForwardingDevice(new ToyDevice(1)) {
            @Override
            public void execute(BlockRequest request) { throw failure; }

            @Override
            public void submit(BlockRequest request) {
                RequestCompletion.executeAndComplete(request, this);
            }
        };
    }

    @Test
    void shouldCompleteOnceWithTheResult() {
        var failure = new MediumException("unreadable");
        RequestCompletion.succeed(request);
        RequestCompletion.fail(request, failure);
        RequestCompletion.complete(request, null);
        RequestCompletion.complete(request, failure);
        RequestCompletion.completeGuarded(request, null);
        RequestCompletion.completeGuarded(request, failure);
        assertThat(results).containsExactly(Optional.empty(), Optional.of(failure),
                Optional.empty(), Optional.of(failure), Optional.empty(), Optional.of(failure));
    }

    @Test
    void shouldKeepExceptionsOfACompletionFromAGuardedThread() {
        request.onCompletion((_, _) -> {
            results.add(Optional.empty());
            throw new IllegalStateException("a bug of the caller");
        });
        RequestCompletion.completeGuarded(request, null);
        assertThat(results).hasSize(1);
        assertThatIllegalStateException().isThrownBy(() -> RequestCompletion.succeed(request));
    }

    @Test
    void shouldCompleteWithTheResultOfTheExecution() {
        var device = new ToyDevice(1);
        RequestCompletion.executeAndComplete(request.asRead(0, 1, buffer()), device);
        RequestCompletion.executeAndComplete(request.asRead(1, 1, buffer()), device);
        assertThat(results).hasSize(2);
        assertThat(results.getFirst()).isEmpty();
        assertThat(results.getLast()).get().isInstanceOf(OutOfRangeException.class);
    }

    @Test
    void shouldFailTheRequestForAnyOtherExceptionOfTheDevice() {
        var bug = new IllegalArgumentException("a bug of the device");
        RequestCompletion.executeAndComplete(request, throwing(bug));
        RequestCompletion.executeAndComplete(request,
                throwing(new IllegalStateException("Already closed")));
        assertThat(results).hasSize(2);
        assertThat(results.getFirst()).get().isInstanceOf(BusyException.class)
                .extracting(StorageException::getCause).isSameAs(bug);
        assertThat(results.getLast()).get().isInstanceOf(InvalidRequestException.class);
    }

    private static MemorySegment buffer() { return MemorySegment.ofArray(new byte[512]); }
}
