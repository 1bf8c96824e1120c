package org.example.storage;

import java.lang.foreign.MemorySegment;
import lunar.block.Devices;
import lunar.initiator.Initiator;
import lunar.scsi.Lun;
import lunar.target.TargetServer;
import lunar.target.TargetSpec;

/** Serves memory, writes to it as a LUN, and reads it back. */
public final class Main {
    private static final String TARGET = "iqn.2026-11.org.example:disk";

    private Main() {}

    /** Prints one line. */
    public static void main(String[] args) throws Exception {
        try (var device = Devices.open("ram:1MiB");
                var server = TargetServer.builder().portal("127.0.0.1", 0)
                        .target(TargetSpec.of(TARGET).withLun(0, device)).start();
                var initiator = Initiator.create("iqn.2026-11.org.example:host");
                var session = initiator.login("iscsi://127.0.0.1:"
                        + server.portals().getFirst().getPort() + "/" + TARGET);
                var disk = session.open(Lun.of(0))) {
            byte[] block = "written by a user of Lunar".repeat(20).getBytes();
            byte[] written = java.util.Arrays.copyOf(block, disk.blockSize());
            disk.write(7, MemorySegment.ofArray(written));
            disk.flush();
            byte[] read = new byte[disk.blockSize()];
            disk.read(7, MemorySegment.ofArray(read));
            System.out.println(new String(read, 0, 26) + ", "
                    + (Main.class.getModule().isNamed() ? "module path" : "class path"));
        }
    }
}
