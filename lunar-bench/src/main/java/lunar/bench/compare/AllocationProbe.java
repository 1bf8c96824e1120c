package lunar.bench.compare;

import lunar.bench.harness.BenchException;

import com.sun.management.ThreadMXBean;
import com.sun.tools.attach.AttachNotSupportedException;
import com.sun.tools.attach.VirtualMachine;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import javax.management.remote.JMXConnector;
import javax.management.remote.JMXConnectorFactory;
import javax.management.remote.JMXServiceURL;

/** Queries the bytes allocated by all threads of another JVM, including ended ones. */
final class AllocationProbe implements AutoCloseable {
    /** Option that the probed JVM needs. */
    static final String OPTION = "--add-modules=jdk.management.agent,jdk.management";

    private final JMXConnector connector;
    private final ThreadMXBean threads;

    @SuppressWarnings("BanJNDI") // the peer is a process that this one has started
    AllocationProbe(long pid) throws BenchException {
        try {
            VirtualMachine machine = VirtualMachine.attach(String.valueOf(pid));
            try {
                connector = JMXConnectorFactory
                        .connect(new JMXServiceURL(machine.startLocalManagementAgent()));
            } finally {
                machine.detach();
            }
            threads = ManagementFactory.newPlatformMXBeanProxy(
                    connector.getMBeanServerConnection(),
                    ManagementFactory.THREAD_MXBEAN_NAME, ThreadMXBean.class);
        } catch (IOException | AttachNotSupportedException e) {
            throw new BenchException("cannot query the server's JVM: " + e.getMessage(), e);
        }
    }

    long bytes() { return threads.getTotalThreadAllocatedBytes(); }

    @Override
    public void close() throws IOException { connector.close(); }
}
