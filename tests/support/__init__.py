"""Code that tests share: programs, designs, RTL, ways to run the command line, and slow but obvious references."""
