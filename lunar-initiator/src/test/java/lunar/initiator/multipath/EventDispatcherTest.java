package lunar.initiator.multipath;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(120)
class EventDispatcherTest {
    @Test
    void shouldReportOneEventAfterTheOtherInTheirOrder() throws Exception {
        var heard = new ConcurrentLinkedQueue<Integer>();
        var atOnce = new AtomicInteger();
        var most = new AtomicInteger();
        var dispatcher = new EventDispatcher(_ -> {});
        for (int i = 0; i < 1000; i++) {
            int number = i;
            dispatcher.tell(_ -> {
                most.accumulateAndGet(atOnce.incrementAndGet(), Math::max);
                heard.add(number);
                atOnce.decrementAndGet();
            });
        }
        dispatcher.awaitTold();
        assertThat(heard).containsExactlyElementsOf(IntStream.range(0, 1000).boxed().toList());
        assertThat(most).hasValue(1);
    }

    @Test
    void shouldContinueAfterAListenerThatThrows() throws Exception {
        var heard = new ConcurrentLinkedQueue<String>();
        var dispatcher = new EventDispatcher(_ -> {});
        dispatcher.tell(_ -> {
            throw new IllegalStateException("of no consequence");
        });
        dispatcher.tell(_ -> heard.add("next"));
        dispatcher.awaitTold();
        assertThat(heard).containsExactly("next");
    }

    @Test
    void shouldNotWaitForASlowListenerAndKeepABoundedNumber() throws Exception {
        var go = new CountDownLatch(1);
        var started = new CountDownLatch(1);
        List<Integer> heard = new ArrayList<>(); // by one thread
        var dispatcher = new EventDispatcher(_ -> {});
        dispatcher.tell(_ -> {
            started.countDown();
            awaitQuietly(go);
        });
        started.await();
        for (int i = 0; i < 2 * EventDispatcher.MAX_WAITING; i++) {
            int number = i;
            dispatcher.tell(_ -> heard.add(number));
        }
        go.countDown();
        dispatcher.awaitTold();
        assertThat(heard).hasSize(EventDispatcher.MAX_WAITING).startsWith(0, 1, 2);
    }

    private static void awaitQuietly(CountDownLatch latch) {
        try {
            latch.await();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
