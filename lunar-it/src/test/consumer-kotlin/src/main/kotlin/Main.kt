package org.example.storage

import java.lang.foreign.MemorySegment
import lunar.block.Devices

/** Opens the device of a URI, writes its last block and reads it back. */
fun main(args: Array<String>) {
    Devices.open(args[0]).use { disk ->
        val text = "written from Kotlin"
        val last = disk.blockCount() - 1
        disk.write(last, MemorySegment.ofArray(text.toByteArray().copyOf(disk.blockSize())))
        disk.flush()
        val read = ByteArray(disk.blockSize())
        disk.read(last, MemorySegment.ofArray(read))
        println(String(read, 0, text.length))
    }
}
