/**
 * Search indexes of Apache Lucene on a block device: {@link lunar.lucene.LunarDirectory} is a Lucene {@code Directory}
 * whose files are on a LUN, a RAID volume, a disk or in memory, without a file system in between.
 *
 * <p><b>On the device</b>, in units of 4096 bytes: a superblock (unit 0, with a copy in the last), an owner record
 * (unit 1), two metadata areas, data. A metadata area contains a complete file table with its generation and a
 * checksum; a commit flushes the data, then writes the next table into the unused area, and flushes that. Therefore a
 * power cut at any time leaves the last committed table or the next one intact. Data is written once and never in
 * place; the space of a deleted file is reused only after a table without it is on stable storage.
 *
 * <p><b>Inside</b>: {@code Layout} and {@code FileTable} are the on-disk structures, without I/O; {@code MetadataStore}
 * reads and writes them; {@code FreeSpace} allocates; {@code FileWriter} writes behind; {@code PageCache} serves reads
 * and reads ahead.
 *
 * <p>Threading: a directory is thread-safe, an {@code IndexInput} or {@code IndexOutput} is not, as usual in Lucene.
 *
 * {@snippet :
 * try (BlockDevice lun = Devices.open("iscsi://array/iqn.2026-11.org.example:index/0")) {
 *     LunarDirectory.format(lun); // once
 *     try (var directory = LunarDirectory.open(lun);
 *             var writer = new IndexWriter(directory, new IndexWriterConfig())) {
 *         writer.addDocument(document);
 *         writer.commit();
 *     }
 * }
 * }
 */
@NullMarked
package lunar.lucene;

import org.jspecify.annotations.NullMarked;
