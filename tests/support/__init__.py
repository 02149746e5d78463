"""What tests share: programs, designs and RTL, ways to run the command line, judges that are slow and obvious."""
