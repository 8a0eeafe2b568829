"""Memory that processes share counts once, whoever maps it when each is looked at."""

import mmap
import os
import unittest

import memory

SHARED_NBYTES = 64 << 20
ELSE_NBYTES = 24 << 20  # Of the interpreters, each of which may count whole.


class SharedMemoryTest(unittest.TestCase):

    def test_it_counts_once_though_another_maps_it_while_one_is_looked_at(self):
        before = memory.nbytes_held([os.getpid()])
        shared = os.memfd_create("shared")
        os.truncate(shared, SHARED_NBYTES)
        mapped = mmap.mmap(shared, SHARED_NBYTES)
        mapped.write(b"x" * SHARED_NBYTES)
        touched, touch = os.pipe()
        end, ends = os.pipe()
        child = os.fork()
        if child == 0:  # Ends when the parent does.
            os.close(ends)
            for place in range(0, SHARED_NBYTES, mmap.PAGESIZE):
                mapped[place]  # pylint: disable=pointless-statement
            os.write(touch, b"x")
            os.read(end, 1)
            os._exit(0)

        def one_after_the_other():
            os.read(touched, 1)
            mapped.close()
            yield child
            again = mmap.mmap(shared, SHARED_NBYTES)
            again.read(SHARED_NBYTES)
            os.close(ends)
            os.waitpid(child, 0)
            yield os.getpid()

        held = memory.nbytes_held(one_after_the_other())
        self.assertAlmostEqual(held, before + SHARED_NBYTES, delta=ELSE_NBYTES)


if __name__ == "__main__":
    unittest.main()
